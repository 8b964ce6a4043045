// Draws the charts of a heatsoak report from the JSON in the page. Loads nothing, keeps nothing, tells nobody.
(function () {
  "use strict";
  var root = document.documentElement;
  var specs = JSON.parse(document.getElementById("charts").textContent);
  var plots = [], wallClock = false;

  // Colours live in the style sheet, for light and dark; read again when the scheme changes.
  var inks = {};
  function ink(name) {
    if (!(name in inks)) inks[name] = getComputedStyle(root).getPropertyValue("--" + name).trim();
    return inks[name];
  }

  function fixed(value, decimals) {
    return value.toFixed(decimals);
  }

  function element(tag, className, text) {
    var made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  var FONT = "12px system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif";
  function canvasFont() {
    return FONT.replace("12px", 12 * uPlot.pxRatio + "px");
  }

  function scale(spec, name) {
    // The axis stays as it is, unless a line that was hidden at first needs more.
    return {
      distr: spec[name].log ? 3 : 1,
      range: function (u, low, high) {
        var axis = spec[name];
        return [low === null || low >= axis.min ? axis.min : low, high === null || high <= axis.max ? axis.max : high];
      }
    };
  }

  // Charts without a right axis leave its room free, so that all time axes lie under each other.
  var hasRight = specs.some(function (spec) { return spec.right; });
  function axisSize(narrow) { return narrow ? 42 : 52; }
  function labelSize(narrow) { return narrow ? 18 : 22; }
  function rightSize(narrow) { return axisSize(narrow) + labelSize(narrow); }

  function valueAxis(spec, name, narrow) {
    var axis = spec[name];
    return {
      scale: name, side: name === "left" ? 3 : 1, label: axis.label, labelSize: labelSize(narrow), labelGap: 2,
      labelFont: FONT, font: FONT, size: axisSize(narrow), gap: 4,
      stroke: function () { return ink("text"); },
      grid: { show: name === "left", stroke: function () { return ink("line"); }, width: 1 },
      ticks: { show: name === "right", stroke: function () { return ink("line"); }, size: 5 },
      values: function (u, ticks) {
        return ticks.map(function (tick) {
          if (tick === null) return "";
          // On a logarithmic axis only powers of ten are named.
          if (axis.log && Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) > 1e-6) return "";
          return String(Number(tick.toPrecision(10)));
        });
      }
    };
  }

  function timeAxis(spec) {
    var seconds = spec.xUnitSize;
    var axis = {
      label: wallClock && spec.wall ? "Time of day (UTC)" : spec.xLabel, labelSize: 22, labelFont: FONT, font: FONT, size: 30, gap: 4,
      stroke: function () { return ink("text"); },
      grid: { stroke: function () { return ink("line"); }, width: 1 },
      ticks: { show: false },
      values: function (u, ticks) {
        if (wallClock && spec.wall) return ticks.map(function (tick) { return clock(spec, tick, ticks[ticks.length - 1] - ticks[0] > 1200 ? 16 : 19); });
        return ticks.map(function (tick) { return String(Number((tick / seconds).toPrecision(8))); });
      }
    };
    if (seconds > 1) {
      axis.incrs = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 15, 20, 30, 60, 120, 240, 480, 1000, 2000, 5000, 10000]
        .map(function (step) { return step * seconds; });
    }
    return axis;
  }

  function seriesOf(line) {
    var dash = { dotted: [1.5, 3.5], dashed: [6, 3] }[line.stroke];
    var made = {
      label: line.name, scale: line.axis, show: line.shown, dash: dash,
      width: line.stroke === "thin" ? 0.6 : line.stroke === "dotted" ? 2.2 : 1.8,
      cap: "butt",
      alpha: line.stroke === "thin" ? 0.5 : 1,
      stroke: function () { return ink(line.ink); },
      points: { show: false }
    };
    if (line.stroke === "steps") made.paths = uPlot.paths.stepped({ align: 1 });
    return made;
  }

  // Phases, under the curves.
  function drawBands(u, spec) {
    var ctx = u.ctx, box = u.bbox, px = uPlot.pxRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(box.left, box.top, box.width, box.height);
    ctx.clip();
    ctx.font = canvasFont();
    ctx.textAlign = "left";
    ctx.textBaseline = "top";
    spec.bands.forEach(function (band, index) {
      var from = Math.max(u.valToPos(band.from, "x", true), box.left);
      var to = Math.min(u.valToPos(band.to, "x", true), box.left + box.width);
      if (to <= from) return;
      if (index % 2 === 1) {
        ctx.fillStyle = ink("band");
        ctx.fillRect(from, box.top, to - from, box.height);
      }
      ctx.fillStyle = ink("muted");
      if (ctx.measureText(band.label).width <= to - from - 10 * px) ctx.fillText(band.label, from + 5 * px, box.top + 4 * px);
    });
    ctx.restore();
  }

  function rimmed(ctx, text, x, y) {
    ctx.lineWidth = 3 * uPlot.pxRatio;
    ctx.lineJoin = "round";
    ctx.strokeStyle = ink("ground");
    ctx.setLineDash([]);
    ctx.strokeText(text, x, y);
    ctx.fillText(text, x, y);
  }

  // Thresholds, over the curves.
  function drawLevels(u, spec) {
    if (!u.scales.right) return;
    var ctx = u.ctx, box = u.bbox, px = uPlot.pxRatio;
    var edge = box.left + box.width - 5 * px, x = edge, label = 15 * px;
    // Rising values, so falling y.
    var at = spec.levels.map(function (level) { return u.valToPos(level.value, "right", true); });
    ctx.save();
    ctx.font = canvasFont();
    ctx.textAlign = "right";
    spec.levels.forEach(function (level, index) {
      var y = at[index];
      ctx.globalAlpha = 0.75;
      ctx.strokeStyle = ink("composite");
      ctx.lineWidth = px;
      ctx.setLineDash([9 * px, 4 * px]);
      ctx.beginPath();
      ctx.moveTo(box.left, y);
      ctx.lineTo(box.left + box.width, y);
      ctx.stroke();
      ctx.globalAlpha = 1;
      ctx.fillStyle = ink("text");
      // The label stands above its line; below where that is taken; else beside its neighbour's.
      var lower = index > 0 ? at[index - 1] - y : Infinity;
      var upper = index + 1 < at.length ? y - at[index + 1] : Infinity;
      var below = upper < label && lower >= 2 * label;
      if (below || upper >= label) x = edge;
      ctx.textBaseline = below ? "top" : "bottom";
      var width = ctx.measureText(level.label).width;
      if (x - width >= box.left) rimmed(ctx, level.label, x, below ? y + 3 * px : y - 2 * px);
      x -= width + 10 * px;
    });
    ctx.restore();
  }

  // Events: lines over the curves, labels above the frame. Where the label has no room its sign has to do.
  function drawMarks(u, spec) {
    var ctx = u.ctx, box = u.bbox, px = uPlot.pxRatio, free = -Infinity;
    var seen = spec.marks.map(function (mark) { return { mark: mark, x: u.valToPos(mark.t, "x", true) }; })
      .filter(function (at) { return at.x >= box.left && at.x <= box.left + box.width; });
    ctx.save();
    ctx.font = canvasFont();
    ctx.textAlign = "left";
    ctx.textBaseline = "bottom";
    ctx.strokeStyle = ctx.fillStyle = ink("text");
    ctx.lineWidth = px;
    ctx.setLineDash([2 * px, 2 * px]);
    seen.forEach(function (at, index) {
      ctx.globalAlpha = seen.length > 12 ? 0.4 : 1;
      ctx.beginPath();
      ctx.moveTo(at.x, box.top);
      ctx.lineTo(at.x, box.top + box.height);
      ctx.stroke();
      ctx.globalAlpha = 1;
      var sign = at.mark.label.charAt(0), half = ctx.measureText(sign).width / 2;
      var next = index + 1 < seen.length ? seen[index + 1].x : box.left + box.width + 50 * px;
      var text = at.x - half + ctx.measureText(at.mark.label).width + 12 * px <= next ? at.mark.label : sign;
      // Signs that point up and down may interlock.
      if (at.x - half < free - 3 * px) return;
      ctx.fillText(text, at.x - half, box.top - 3 * px);
      free = at.x - half + ctx.measureText(text).width;
    });
    ctx.restore();
  }

  // The nearest point of a line that has a value at all: lines have points at different times.
  function nearest(u, series, hovered, x) {
    var times = u.data[0], values = u.data[series];
    if (series === 0 || values[hovered] !== undefined) return hovered;
    var before = hovered, after = hovered;
    while (before >= 0 && values[before] === undefined) before--;
    while (after < values.length && values[after] === undefined) after++;
    if (before < 0) return after < values.length ? after : hovered;
    if (after >= values.length) return before;
    return x - times[before] <= times[after] - x ? before : after;
  }

  // The time of day of a moment of the run: the part of ISO 8601 behind its date, up to a place.
  function clock(spec, t, end) {
    return new Date((spec.wall + t) * 1000).toISOString().slice(11, end);
  }

  function timeText(spec, t) {
    var text = fixed(t, spec.end < 1200 ? 1 : 0) + " s";
    if (!spec.isTime) return fixed(t / spec.xUnitSize, 1) + " " + spec.xUnit + " written";
    if (spec.xUnitSize > 1) text = fixed(t / spec.xUnitSize, 2) + " " + spec.xUnit + " (" + text + ")";
    return spec.wall ? text + ", " + clock(spec, t, 19) + " UTC" : text;
  }

  function fillTip(u, spec, tip) {
    var t = u.posToVal(u.cursor.left, "x");
    tip.textContent = "";
    var phase = spec.bands.filter(function (band) { return band.from <= t && t < band.to; })[0];
    tip.appendChild(element("div", "", timeText(spec, t) + (phase ? " · " + phase.label : "")));
    var table = element("table");
    // Farther away than this, a reading says nothing about the moment under the cursor.
    var reach = Math.max(2.5, (u.scales.x.max - u.scales.x.min) / 50);
    spec.lines.forEach(function (line, index) {
      var at = u.cursor.idxs[index + 1];
      if (!u.series[index + 1].show || at === null || at === undefined) return;
      var value = u.data[index + 1][at];
      if (value === undefined || value === null || Math.abs(u.data[0][at] - t) > reach) return;
      var axis = spec[line.axis], row = table.insertRow();
      row.insertCell().textContent = line.name;
      row.insertCell().textContent = fixed(value, axis.decimals) + (axis.unit ? " " + axis.unit : "");
      row.cells[1].style.color = ink(line.ink);
    });
    tip.appendChild(table);
    spec.marks.forEach(function (mark) {
      if (Math.abs(u.valToPos(mark.t, "x") - u.cursor.left) <= 6) tip.appendChild(element("div", "event", mark.detail));
    });
  }

  function placeTip(u, tip) {
    var over = u.over, left = over.offsetLeft + u.cursor.left, width = tip.offsetWidth;
    var x = left + 14 + width <= u.root.offsetWidth ? left + 14 : Math.max(0, left - 14 - width);
    var y = Math.min(Math.max(0, over.offsetTop + u.cursor.top - 10), Math.max(0, u.root.offsetHeight - tip.offsetHeight));
    tip.style.transform = "translate(" + x + "px," + y + "px)";
  }

  function tooltip(u, spec, tip) {
    // Synchronised charts get a cursor too; the tooltip belongs to the one under the pointer.
    var hidden = u.cursor.left < 0 || !u.over.matches(":hover") && !u.over.classList.contains("hovered");
    tip.hidden = hidden;
    if (hidden) return;
    fillTip(u, spec, tip);
    placeTip(u, tip);
  }

  function legend(holder, u, spec) {
    spec.lines.forEach(function (line, index) {
      var button = element("button"), sample = element("i", line.stroke);
      button.type = "button";
      button.setAttribute("aria-pressed", String(line.shown));
      sample.style.borderTopColor = "var(--" + line.ink + ")";
      button.appendChild(sample);
      button.appendChild(document.createTextNode(line.name));
      button.addEventListener("click", function () {
        var show = !u.series[index + 1].show;
        u.setSeries(index + 1, { show: show });
        button.setAttribute("aria-pressed", String(show));
      });
      holder.appendChild(button);
    });
  }

  // Seeing all means the whole run, not from the first reading to the last.
  function timeRangeOf(spec) {
    return function (u, min, max) {
      var times = u.data[0], all = min <= times[0] && max >= times[times.length - 1];
      return all ? [0, spec.end] : [min, max];
    };
  }

  function options(spec, width, height, tip) {
    var narrow = width < 560;
    var made = {
      width: width, height: height, padding: [spec.marks.length ? 20 : 8, spec.right ? 0 : hasRight ? rightSize(narrow) : 14, 0, 0],
      series: [{}].concat(spec.lines.map(seriesOf)),
      scales: { x: { time: false, min: 0, max: spec.end, range: timeRangeOf(spec) }, left: scale(spec, "left") },
      axes: [timeAxis(spec), valueAxis(spec, "left", narrow)],
      legend: { show: false },
      cursor: { y: false, dataIdx: nearest, drag: { x: true, y: false, dist: 4 }, sync: { key: spec.isTime ? "run" : spec.id, setSeries: false }, points: { size: 7, show: true } },
      hooks: {
        drawClear: [function (u) { drawBands(u, spec); }],
        draw: [function (u) { drawLevels(u, spec); drawMarks(u, spec); }],
        setCursor: [function (u) { tooltip(u, spec, tip); }]
      }
    };
    if (spec.right) {
      made.scales.right = scale(spec, "right");
      made.axes.push(valueAxis(spec, "right", narrow));
    }
    return made;
  }

  function data(spec) {
    var tables = spec.lines.map(function (line) { return [line.t, line.v]; });
    // Without a single line there is still a time axis to draw.
    if (!tables.length) return [[0, spec.end]];
    // 2: a missing reading is a gap up to its neighbours, whatever other lines have in between.
    return uPlot.join(tables, tables.map(function () { return [2, 2]; }));
  }

  function plot(spec) {
    var figure = document.getElementById(spec.id), holder = figure.querySelector(".plot");
    var tip = element("div", "tip");
    tip.hidden = true;
    function height() {
      var wanted = Number(holder.dataset.height);
      return holder.clientWidth < 560 ? Math.round(wanted * 0.75) : wanted;
    }
    var u = new uPlot(options(spec, holder.clientWidth, height(), tip), data(spec), holder);
    holder.appendChild(tip);
    legend(figure.querySelector(".legend"), u, spec);
    new ResizeObserver(function () {
      if (holder.clientWidth && holder.clientWidth !== u.width) u.setSize({ width: holder.clientWidth, height: height() });
    }).observe(holder);
    plots.push(u);
  }

  // What cannot change in a chart that is there: its lines, and the units of its axes.
  function shape(spec) {
    var axes = [spec.left, spec.right].map(function (axis) { return axis && [axis.label, axis.decimals]; });
    return JSON.stringify([spec.lines.map(function (line) { return [line.name, line.axis, line.stroke]; }), axes, spec.xUnitSize, spec.marks.length > 0]);
  }

  function replot(index) {
    var spec = specs[index], figure = document.getElementById(spec.id), old = plots[index];
    figure.querySelector(".legend").textContent = figure.querySelector(".plot").textContent = "";
    old.destroy();
    plot(spec);
    plots[index] = plots.pop();
  }

  // Newer charts of the same ids, while a run is under way. What was zoomed into stays in view.
  function update(newer) {
    newer.forEach(function (spec) {
      var index = specs.map(function (one) { return one.id; }).indexOf(spec.id);
      if (index < 0) return;
      var old = specs[index], u = plots[index], same = shape(old) === shape(spec);
      var whole = u.scales.x.min <= 0 && u.scales.x.max >= old.end;
      Object.assign(old, spec);
      if (!same) return replot(index);
      u.axes[0].label = wallClock && old.wall ? "Time of day (UTC)" : old.xLabel;
      u.setData(data(old), whole);
      if (!whole) u.redraw();
    });
  }

  function csv(table) {
    return Array.prototype.map.call(table.rows, function (row) {
      return Array.prototype.map.call(row.cells, function (cell) {
        var text = cell.textContent === "–" ? "" : cell.textContent;
        return /[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
      }).join(",");
    }).join("\n") + "\n";
  }

  function copyByHand(text) {
    var area = element("textarea");
    area.value = text;
    document.body.appendChild(area);
    area.select();
    var done = document.execCommand("copy");
    area.remove();
    return done ? Promise.resolve() : Promise.reject();
  }

  // Some browsers do not count a page from disk as secure, and give it no clipboard.
  function copy(text) {
    var byHand = function () { return copyByHand(text); };
    return navigator.clipboard ? navigator.clipboard.writeText(text).catch(byHand) : byHand();
  }

  // A button beside the first legend turns all time axes from time since the run began to the time of day.
  function clockButton() {
    var first = specs.filter(function (spec) { return spec.wall; })[0];
    if (!first) return;
    var button = element("button", "", "Time of day (UTC)");
    button.type = "button";
    button.setAttribute("aria-pressed", "false");
    button.className = "clock";
    button.addEventListener("click", function () {
      wallClock = !wallClock;
      button.setAttribute("aria-pressed", String(wallClock));
      plots.forEach(function (u, index) {
        u.axes[0].label = wallClock && specs[index].wall ? "Time of day (UTC)" : specs[index].xLabel;
        u.redraw(false, true);
      });
    });
    document.getElementById(first.id).querySelector(".legend").appendChild(button);
  }

  root.classList.add("js");
  specs.forEach(plot);
  clockButton();
  document.querySelectorAll("button.copy").forEach(function (button) {
    button.addEventListener("click", function () {
      copy(csv(document.getElementById(button.dataset.table))).then(function () {
        button.textContent = "Copied";
      }, function () {
        button.textContent = "The browser did not allow it";
      });
    });
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () {
    inks = {};
    plots.forEach(function (u) { u.redraw(false, true); });
  });
  window.heatsoakPlots = plots;
  window.heatsoakUpdate = update;
})();
