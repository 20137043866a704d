// The face of the library in letters, made by the compiler from the functions themselves, so that Python can hold it
// against what it is going to call: a changed argument cannot be forgotten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace pedanova {

// P pointer, d double, i and I 4 bytes, q and Q 8 bytes (capitals without a sign), ? anything else.
template <class Type>
constexpr char letter() {
    if (std::is_pointer_v<Type>) return 'P';
    if (std::is_same_v<Type, double>) return 'd';
    if (!std::is_integral_v<Type> || (sizeof(Type) != 4 && sizeof(Type) != 8)) return '?';
    if (sizeof(Type) == 4) return std::is_signed_v<Type> ? 'i' : 'I';
    return std::is_signed_v<Type> ? 'q' : 'Q';
}

// "name=arguments:result", one line for each function.
template <class Result, class... Arguments>
std::string told(const char* name, Result (*)(Arguments...)) {
    const char letters[] = {'=', letter<Arguments>()..., ':', letter<Result>(), '\n', '\0'};
    return std::string(name) + letters;
}

// "name.field=place", one line for each field.
inline std::string told(const char* name, std::size_t place) {
    return std::string(name) + "=" + std::to_string(place) + "\n";
}

}  // namespace pedanova
