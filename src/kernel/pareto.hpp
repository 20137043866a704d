// Fronts of non-dominated rows. Rows are different and in lexicographic order, so whoever dominates a row stands
// before it, and a row that is nowhere worse than a later one dominates it.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

namespace pedanova {

// The front is the first one without a dominator. If some front has one, so has every front before it: search by
// halving. `dominated(front)` answers for one front.
template <class Dominated>
std::int64_t first_free_front(std::int64_t fronts, const Dominated& dominated) {
    std::int64_t low = 0;
    std::int64_t high = fronts;
    while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (dominated(middle)) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Two objectives: a front is known by the smallest second objective seen in it.
inline void fronts_of_two(const double* rows, std::int64_t count, std::int64_t* fronts) {
    std::vector<double> best;
    for (std::int64_t i = 0; i < count; ++i) {
        const double second = rows[2 * i + 1];
        const std::int64_t front =
            first_free_front(static_cast<std::int64_t>(best.size()), [&](std::int64_t f) { return best[f] <= second; });
        if (front == static_cast<std::int64_t>(best.size())) best.push_back(second);
        else best[front] = second;
        fronts[i] = front;
    }
}

// Three objectives: a front keeps its stairs, second objective rising, third falling.
class Stairs {
  public:
    bool dominate(double second, double third) const {
        auto after = steps_.upper_bound(second);
        return after != steps_.begin() && std::prev(after)->second <= third;
    }

    void add(double second, double third) {
        auto place = steps_.lower_bound(second);
        while (place != steps_.end() && place->second >= third) place = steps_.erase(place);
        steps_.insert_or_assign(place, second, third);
    }

  private:
    std::map<double, double> steps_;
};

inline void fronts_of_three(const double* rows, std::int64_t count, std::int64_t* fronts) {
    std::vector<Stairs> stairs;
    for (std::int64_t i = 0; i < count; ++i) {
        const double second = rows[3 * i + 1];
        const double third = rows[3 * i + 2];
        const std::int64_t front = first_free_front(static_cast<std::int64_t>(stairs.size()),
                                                    [&](std::int64_t f) { return stairs[f].dominate(second, third); });
        if (front == static_cast<std::int64_t>(stairs.size())) stairs.emplace_back();
        stairs[front].add(second, third);
        fronts[i] = front;
    }
}

// More objectives: compare with the members of a front one by one, the latest first.
inline void fronts_of_many(const double* rows, std::int64_t count, std::int64_t objectives, std::int64_t* fronts) {
    std::vector<std::vector<std::int64_t>> members;
    const auto dominates = [&](std::int64_t one, std::int64_t other) {
        for (std::int64_t k = 0; k < objectives; ++k)
            if (rows[one * objectives + k] > rows[other * objectives + k]) return false;
        return true;
    };
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t front = first_free_front(static_cast<std::int64_t>(members.size()), [&](std::int64_t f) {
            for (auto member = members[f].rbegin(); member != members[f].rend(); ++member)
                if (dominates(*member, i)) return true;
            return false;
        });
        if (front == static_cast<std::int64_t>(members.size())) members.emplace_back();
        members[front].push_back(i);
        fronts[i] = front;
    }
}

inline void find_fronts(const double* rows, std::int64_t count, std::int64_t objectives, std::int64_t* fronts) {
    if (objectives == 2) return fronts_of_two(rows, count, fronts);
    if (objectives == 3) return fronts_of_three(rows, count, fronts);
    fronts_of_many(rows, count, objectives, fronts);
}

}  // namespace pedanova
