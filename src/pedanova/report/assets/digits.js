/* Numbers as people read them: the same rule as base/digits.py, to the last letter. */
"use strict";
(function () {
  const SPACE = "\u00a0";
  const SMALL = 1e-3, LARGE = 1e6, GROUPED = 10000;

  /* Python rounds a tie to the even digit, JavaScript away from zero; a tie is an exact one. */
  function toEven(value, rounded, exact) {
    const [digits, power = ""] = rounded.split("e");
    const last = Number(digits[digits.length - 1]);
    return exact && last % 2 === 1 ? digits.slice(0, -1) + (last - 1) + (power && "e" + power) : rounded;
  }

  /* value with so many digits that count, as `f"{value:.{digits - 1}e}"`. */
  function scientific(value, digits) {
    const more = value.toExponential(Math.min(100, digits + 60)).split("e")[0].replace(/[-.]/g, "");
    return toEven(value, value.toExponential(digits - 1), /^50*$/.test(more.slice(digits)));
  }

  /* As `f"{value:.{places}f}"`. */
  function fixed(value, places) {
    const more = value.toFixed(Math.min(100, places + 60)).split(".")[1];
    return toEven(value, value.toFixed(places), /^50*$/.test(more.slice(places)));
  }

  const grouped = (value) => (Math.abs(value) >= GROUPED ? String(value).replace(/\B(?=(\d{3})+$)/g, ",") : String(value));

  /* A number in few digits; whole ones in full, anything else as it is. */
  function short(value, digits = 3) {
    if (value === null || value === undefined) return "";
    if (typeof value !== "number") return String(value);
    if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
    if (Number.isInteger(value) && Math.abs(value) < LARGE) return grouped(value + 0);
    const rounded = Number(scientific(value, digits));
    if (Math.abs(rounded) >= SMALL && Math.abs(rounded) < LARGE) return Number.isInteger(rounded) ? grouped(rounded) : String(rounded);
    const [mantissa, power] = scientific(rounded, digits).split("e");
    return `${mantissa.includes(".") ? mantissa.replace(/0+$/, "").replace(/\.$/, "") : mantissa}e${Number(power)}`;
  }

  /* A part of one in two digits that count; below zero is zero; nothing and all alone are 0 and 100 %. */
  function percent(part) {
    if (part === null || part === undefined || Number.isNaN(part)) return "";
    return `${hundreds(100 * Math.max(0, part))}${SPACE}%`;
  }

  function hundreds(percents) {
    if (percents === 0 || percents === 100) return String(percents);
    if (percents >= 99.5 && percents < 100) return fixed(Math.min(percents, 99.9), 1);
    return percents < 9.95 ? fixed(percents, 1) : fixed(percents, 0);
  }

  /* How many times as often. */
  function times(lift) {
    if (!Number.isFinite(lift)) return "";
    const [mantissa, power] = scientific(lift, 2).split("e"), tens = Number(power);
    if (lift === 0 || (tens >= -4 && tens < 6)) return `${Number(`${mantissa}e${power}`)}×`;
    return `${Number(mantissa)}e${tens < 0 ? "-" : "+"}${String(Math.abs(tens)).padStart(2, "0")}×`;
  }

  /* A p-value: below a thousandth its size says nothing more. */
  function chance(p) {
    if (p === null || p === undefined) return "";
    if (p < 0.001) return "<0.001";
    return p >= 0.0995 ? fixed(p, 2) : fixed(p, 3);
  }

  /* Rows and other whole numbers, thousands set apart. */
  const count = (value) => (value === null || value === undefined ? "" : String(value).replace(/\B(?=(\d{3})+$)/g, ","));
  const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

  /* What is said about an effect that is not clear; a large one is not called none. */
  const unclear = (effect) => (effect > 0.2 ? "not certain yet" : "no clear effect");

  Object.assign(pedanova, { short, percent, times, chance, unclear, count, plural });
})();
