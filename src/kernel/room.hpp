// Room for many rows at once, in pages as large as the system has them: fewer to be touched for the first time, and
// fewer for the processor to remember.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace pedanova {

struct GiveBack {
    void operator()(void* room) const { std::free(room); }
};

template <class Item>
using Room = std::unique_ptr<Item[], GiveBack>;

// Not initialised. Throws std::bad_alloc.
template <class Item>
Room<Item> room_for(std::size_t count) {
#if defined(__linux__)
    constexpr std::size_t page = std::size_t{1} << 21;
    const std::size_t bytes = (count * sizeof(Item) + page - 1) / page * page;
    void* const room = std::aligned_alloc(page, bytes);
    if (room != nullptr) madvise(room, bytes, MADV_HUGEPAGE);  // a wish: without it, all goes on in small pages
#else
    void* const room = std::malloc(count * sizeof(Item));
#endif
    if (room == nullptr) throw std::bad_alloc();
    return Room<Item>(static_cast<Item*>(room));
}

}  // namespace pedanova
