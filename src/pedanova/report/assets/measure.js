/* Importance from counts, as measures/importance.py and measures/smoothing.py have it: the same sums, so the same
   numbers to about the twelfth digit. Pure functions on typed arrays. */
"use strict";

pedanova.measure = (() => {
  const NARROWEST = 0.3, FLAT = 5, MANY = 300, REACH = 9;
  const Z = 1.959964;  // 95 % of a normal law lie so many deviations around its mean
  const LEAST = 5;  // target rows, below which nothing can be said
  const kernels = new Map();

  /* erf by a series of positive terms: nothing cancels. */
  function erf(x) {
    if (x < 0) return -erf(-x);
    if (x > 6) return 1;
    let term = x, sum = x;
    for (let n = 1; term > sum * 1e-17; n += 1) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }

  /* Weight of each distance on the mirrored grid. */
  function kernelOf(cells, width) {
    const key = `${cells} ${width}`;
    if (kernels.has(key)) return kernels.get(key);
    const period = 2 * cells, kernel = new Float64Array(period);
    if (width > 2 * period) {
      kernel.fill(1 / period);
    } else {
      const half = halfKernel(width);
      half.forEach((weight, d) => {
        kernel[d % period] += weight;
        if (d) kernel[(period - (d % period)) % period] += weight;
      });
    }
    if (kernels.size > 256) kernels.clear();
    kernels.set(key, kernel);
    return kernel;
  }

  function halfKernel(width) {
    const reach = Math.ceil(REACH * width) + 1, scale = 1 / (width * Math.SQRT2);
    const half = new Float64Array(reach + 1);
    let before = -erf(0.5 * scale), total = 0;
    for (let d = 0; d <= reach; d += 1) {
      const next = erf((d + 0.5) * scale);
      half[d] = (next - before) / 2;
      total += d ? 2 * half[d] : half[d];
      before = next;
    }
    return half.map((weight) => weight / total);
  }

  /* Σ_j S_ij m_j and Σ_j S_ij² m_j, with S_ij = P(i - j) + P(i + j + 1); empty cells cost nothing. */
  function smoothBoth(masses, width) {
    if (width === 0) return [masses, masses];
    const cells = masses.length, kernel = kernelOf(cells, width), reach = Math.ceil(REACH * width) + 1;
    const plain = new Float64Array(cells), squared = new Float64Array(cells);
    for (let j = 0; j < cells; j += 1) {
      const mass = masses[j];
      if (mass === 0) continue;
      const first = Math.max(0, j - reach), last = Math.min(cells - 1, j + reach);
      for (let i = first; i <= j; i += 1) {
        const weight = kernel[j - i] + kernel[i + j + 1], part = mass * weight;
        plain[i] += part;
        squared[i] += part * weight;
      }
      for (let i = j + 1; i <= last; i += 1) {
        const weight = kernel[i - j] + kernel[i + j + 1], part = mass * weight;
        plain[i] += part;
        squared[i] += part * weight;
      }
    }
    return [plain, squared];
  }

  const smooth = (masses, width) => smoothBoth(masses, width)[0];

  /* Half of Scott's rule, narrower where target rows are many; 0 for a kernel that is none. */
  function bandwidth(target) {
    const rows = sum(target);
    let mean = 0, spread = 0;
    for (let i = 0; i < target.length; i += 1) mean += target[i] * i;
    mean /= rows;
    for (let i = 0; i < target.length; i += 1) spread += target[i] * (i - mean) ** 2;
    const deviation = Math.sqrt(spread / (rows - 1));
    const scott = 0.53 * Math.min(deviation, interquartile(target, rows) / 1.34) * rows ** -0.2;
    return scott * Math.sqrt(Math.min(1, MANY / rows));
  }

  function interquartile(counts, rows) {
    const last = Math.max(rows - 1, 1);
    const cellOf = (rank) => {
      let held = 0, cell = 0;
      while (cell < counts.length && (held += counts[cell]) <= rank + 1e-6) cell += 1;
      return cell;
    };
    const quantile = (part) => {
      const position = part * last, below = Math.floor(position);
      const low = cellOf(below), high = cellOf(Math.min(below + 1, last));
      return low + (position - below) * (high - low);
    };
    return quantile(0.75) - quantile(0.25);
  }

  function widthOf(target, smoothable) {
    if (!smoothable) return 0;
    if (sum(target) < 2) return FLAT * target.length;  // too few rows to tell one cell from another
    const width = bandwidth(target);
    return width >= NARROWEST ? width : 0;
  }

  function sum(values) {
    let total = 0;
    for (let i = 0; i < values.length; i += 1) total += values[i];
    return total;
  }

  function summedRatio(above, below) {
    let total = 0;
    for (let i = 0; i < above.length; i += 1) if (below[i] > 0) total += above[i] / below[i];
    return total;
  }

  /* One regime's part of the sums. */
  function pieceOf(target, region, prior, smoothable, inside, rows, baseline) {
    const held = sum(region);
    if (held === 0) return { square: 0, kept: 0, noise: 0, keptNoise: 0, drawn: null };
    const width = widthOf(target, smoothable);
    const wanted = Float64Array.from(target, (count) => count / inside);
    const known = Float64Array.from(region, (count) => count / rows);
    const reached = sum(target) / inside, active = held / rows;
    const seen = smoothBoth(wanted, width), all = smoothBoth(known, width);
    let base = all[0];
    if (baseline === "uniform" && prior) {
      const whole = sum(prior);
      base = smooth(Float64Array.from(prior, (mass) => mass / whole), width).map((mass) => mass * active);
    }
    return {
      square: summedRatio(seen[0].map((mass) => mass * mass), base),
      kept: reached ** 2 / active,
      noise: summedRatio((baseline === "region" ? all : seen)[1], base),
      keptNoise: baseline === "region" ? 1 : reached / active,
      drawn: [seen[0], all[0]],  // both as smoothed, for whoever draws them
    };
  }

  /* Numbers of one parameter, its ratio still open. `grid`: blocks [start, stop, smoothable], cells, prior, child. */
  function measure(name, grid, target, region, baseline) {
    const inside = sum(target), rows = sum(region);
    const varied = region.reduce((many, count) => many + (count > 0 ? 1 : 0), 0) > 1;
    const apart = [grid.cells, grid.cells + 1].map((cell) => [cell, cell + 1, false]);  // no value, outside the space
    const pieces = varied ? [...grid.blocks, ...apart].map(([start, stop, smoothable]) => pieceOf(
      target.subarray(start, stop), region.subarray(start, stop),
      start < grid.cells ? grid.prior.subarray(start, stop) : null, smoothable, inside, rows, baseline,
    )) : [{ square: 1, kept: 1, noise: 1, keptNoise: 1, drawn: null }];
    const by = varied ? baseline : "region";
    return { ...numbersOf(pieces, inside, rows, by, grid.child && varied), parameter: name, varied, drawn: pieces.map((piece) => piece.drawn) };
  }

  function numbersOf(pieces, inside, rows, baseline, child) {
    const total = (key) => pieces.reduce((held, piece) => held + piece[key], 0);
    const part = inside / rows, odds = part / (1 - part);
    const value = notNoise(pieces.reduce((held, piece) => held + (piece.square - piece.kept), 0));
    const activity = notNoise(total("kept") - 1);
    const divergence = value + activity, noise = total("noise");
    const [credited, chance] = child ? [value, noise - total("keptNoise") + 1] : [divergence, noise];
    return {
      share: shareOf(credited, chance, odds, inside, rows, baseline),
      raw_share: odds * divergence,
      divergence,
      variance: part ** 2 * divergence,
      value,
      activity,
      n_target: inside,
      n_region: rows,
    };
  }

  const notNoise = (divergence) => (divergence > 1e-12 ? divergence : 0);

  function shareOf(divergence, noise, odds, inside, rows, baseline) {
    if (baseline === "region") {
      const chance = (noise - 1) / (rows - 1);
      return chance < 1 - 1e-9 ? (odds * divergence - chance) / (1 - chance) : 0;
    }
    const unbiased = (inside * (divergence + 1) - noise) / Math.max(inside - 1, 1) - 1;
    return inside > 1 ? odds * unbiased : 0;
  }

  /* With ratios, most important first; what never varied stands last. */
  function ranked(rows) {
    const total = rows.reduce((held, row) => held + Math.max(0, row.share), 0);
    const spread = rows.reduce((held, row) => held + row.variance, 0);
    return rows.map((row) => ({
      ...row,
      ratio: total > 0 ? Math.max(0, row.share) / total : 0,
      raw_ratio: spread > 0 ? row.variance / spread : 0,
    })).sort((a, b) => (a.varied === b.varied ? b.share - a.share : a.varied ? -1 : 1));
  }

  /* What chance alone would do, as measures/band.py has it: between `low` and `high` lies the target in 95 of 100 cases,
     bin by bin, were its rows any rows of the region. `groups` are the bins of the cells, `parts` the base's by cell. */
  function chanceBand({ groups, points, blocks, apart }, mean, parts, widths, inside, rows, ofRegion) {
    if (inside < 1) return { low: mean.map(() => 0), high: mean.map(() => 1) };
    const left = ofRegion ? Math.max(0, (rows - inside) / Math.max(1, rows - 1)) : 1;
    const alone = () => ({ variance: mean.map((part) => part * (1 - part)), most: mean.map((part) => (part > 0 ? 1 : 0)) });
    const { variance, most } = apart ? alone() : ofOneRow(groups, points, blocks, parts, widths);
    const low = [], high = [];
    mean.forEach((part, i) => {
      const deviation = Math.sqrt(Math.max(0, (variance[i] / inside) * left)), relative = part > 0 ? deviation / part : 0;
      low.push(Math.max(0, part - Z * deviation));
      high.push(Math.max(part * Math.max(0, 1 - relative ** 2 / 9 + (Z * relative) / 3) ** 3, most[i] / inside));
    });
    return { low, high };
  }

  /* The variance of what one row puts into a bin, and the most that it can. Cells a fourth of the kernel's width apart
     stand for their neighbours. */
  function ofOneRow(groups, points, blocks, parts, widths) {
    const squares = new Float64Array(points), means = new Float64Array(points), most = new Float64Array(points);
    blocks.forEach(([start, stop], place) => {
      const width = widths[place], cells = stop - start;
      if (width === 0) {
        for (let j = start; j < stop; j += 1) {
          squares[groups[j]] += parts[j];
          means[groups[j]] += parts[j];
          if (parts[j] > 0) most[groups[j]] = 1;
        }
        return;
      }
      const reached = running(kernelOf(cells, width), cells), columns = columnsOf(cells, width), held = heldBy(columns, parts.subarray(start, stop));
      for (let from = start, to = start; from < stop; from = to) {
        const bin = groups[from];
        while (to < stop && groups[to] === bin) to += 1;
        const low = from - start + cells, high = to - start + cells;
        columns.forEach((column, k) => {
          const weight = reached[high - column] + reached[high + column + 1] - reached[low - column] - reached[low + column + 1];
          squares[bin] += weight * weight * held[k];
          means[bin] += weight * held[k];
          most[bin] = Math.max(most[bin], weight);
        });
      }
    });
    return { variance: squares.map((square, i) => Math.max(0, square - means[i] ** 2)), most };
  }

  function columnsOf(cells, width) {
    const step = Math.max(1, Math.floor(width / 4)), columns = [];
    if (cells <= step) return [Math.floor(cells / 2)];
    for (let cell = Math.floor(step / 2); cell < cells; cell += step) columns.push(cell);
    return columns;
  }

  /* What each of these cells stands for. */
  function heldBy(columns, parts) {
    const starts = columns.map((column, k) => (k ? Math.floor((columns[k - 1] + column + 1) / 2) : 0));
    return starts.map((from, k) => sum(parts.subarray(from, k + 1 < starts.length ? starts[k + 1] : parts.length)));
  }

  /* Sums of the periodic kernel from one period before zero to one behind the cells. */
  function running(kernel, cells) {
    const sums = new Float64Array(4 * cells + 1);
    for (let i = 0; i < 4 * cells; i += 1) sums[i + 1] = sums[i] + kernel[(((i - cells) % (2 * cells)) + 2 * cells) % (2 * cells)];
    return sums;
  }

  return { LEAST, chanceBand, erf, measure, ranked, smooth, sum, widthOf };
})();
