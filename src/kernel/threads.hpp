// The threads of one call: they begin and end with it, and share its work piece by piece.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace pedanova {

class Crew {
  public:
    // Where the system lets no more threads start, those that did do the work.
    explicit Crew(std::int32_t threads) {
        others_.reserve(threads > 1 ? threads - 1 : 0);
        try {
            for (std::int32_t i = 1; i < threads; ++i) others_.emplace_back([this, i] { serve(i); });
        } catch (const std::system_error&) {
        }
    }
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    ~Crew() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            over_ = true;
            ++turn_;
        }
        begun_.notify_all();
        for (std::thread& other : others_) other.join();
    }

    std::int32_t size() const { return static_cast<std::int32_t>(others_.size()) + 1; }

    // work(piece, thread) for every piece, each by whichever thread is free; returns when all are done.
    void run(std::int64_t pieces, const std::function<void(std::int64_t, std::int32_t)>& work) {
        next_ = 0, pieces_ = pieces, work_ = &work, error_ = nullptr;
        const bool alone = others_.empty() || pieces < 2;
        if (!alone) {
            busy_ = static_cast<std::int32_t>(others_.size());
            {
                const std::lock_guard<std::mutex> lock(mutex_);
                ++turn_;
            }
            begun_.notify_all();
        }
        take(0);
        if (!alone) {
            const auto ready = [this] { return busy_ == 0; };
            for (int i = 0; i < patience && !ready(); ++i) std::this_thread::yield();
            std::unique_lock<std::mutex> lock(mutex_);
            done_.wait(lock, ready);
        }
        if (error_) std::rethrow_exception(error_);
    }

  private:
    static constexpr int patience = 64;  // turns of waiting before a thread goes to sleep, which takes longer

    void serve(std::int32_t thread) {
        std::int64_t seen = 0;
        for (;;) {
            const auto called = [&] { return turn_ != seen; };
            for (int i = 0; i < patience && !called(); ++i) std::this_thread::yield();
            {
                std::unique_lock<std::mutex> lock(mutex_);
                begun_.wait(lock, called);
                if (over_) return;
            }
            ++seen;
            take(thread);
            const std::lock_guard<std::mutex> lock(mutex_);
            if (--busy_ == 0) done_.notify_one();
        }
    }

    void take(std::int32_t thread) {
        try {
            for (std::int64_t piece = next_++; piece < pieces_; piece = next_++) (*work_)(piece, thread);
        } catch (...) {
            const std::lock_guard<std::mutex> lock(mutex_);
            error_ = std::current_exception();
            next_ = pieces_;
        }
    }

    std::mutex mutex_;
    std::condition_variable begun_, done_;
    std::atomic<std::int64_t> turn_{0}, next_{0};
    std::atomic<std::int32_t> busy_{0};
    std::int64_t pieces_ = 0;
    const std::function<void(std::int64_t, std::int32_t)>* work_ = nullptr;
    std::exception_ptr error_;
    bool over_ = false;
    std::vector<std::thread> others_;
};

// Rows in as many pieces as keep all threads busy until the end: piece(first, rows, thread).
template <class Work>
void in_pieces(Crew& crew, std::int64_t rows, std::int64_t most, const Work& work) {
    const std::int64_t pieces = crew.size() == 1 ? 1 : (rows + most - 1) / most;
    crew.run(pieces, [&](std::int64_t piece, std::int32_t thread) {
        const std::int64_t first = rows * piece / pieces;
        work(first, rows * (piece + 1) / pieces - first, thread);
    });
}

}  // namespace pedanova
