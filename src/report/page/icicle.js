// Draws call paths as icicle graphs, root at the top. Each .icicle has its numbers in data attributes, separated by spaces: for each path
// the one of its caller (-1: there is none; callers come first), the line of .names that names it, and, for each command, its time in
// microseconds. With two commands, the second one is compared with the first: half the width of the interval of each difference (-1: unknown),
// and the paths that differ significantly.
(() => {
  const kRow = 22, kLeast = 1.5;

  const time = us => {
    const size = Math.abs(us), text = (value, unit) => `${Number(value.toPrecision(3))} ${unit}`;
    return size >= 1e6 ? text(us / 1e6, "s") : size >= 1e3 ? text(us / 1e3, "ms") : text(us, "µs");
  };
  const percent = share => `${Number((100 * share).toPrecision(share < 0.1 ? 2 : 3))}%`;

  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

  const numbers = text => text === "" ? [] : text.split(" ").map(Number);

  const readTree = element => {
    const {parent, name, times, commands, halfWidth, sure} = element.dataset;
    const data = {parent: numbers(parent), name: numbers(name), times: times.split("|").map(numbers),
                  names: element.querySelector(".names").textContent.split("\n"),
                  commands: commands.split("\n").map(line => line.split(/[|](.*)/s, 2)),
                  halfWidth: halfWidth === undefined ? null : numbers(halfWidth), sure: new Set(numbers(sure ?? ""))};
    const count = data.parent.length;
    const children = Array.from({length: count}, () => []), roots = [];
    data.parent.forEach((parent, node) => (parent < 0 ? roots : children[parent]).push(node));
    return {data, count, roots, children, name: node => data.names[data.name[node]]};
  };

  const pathOf = (tree, node) => {
    const path = [];
    for (let at = node; at >= 0; at = tree.data.parent[at]) path.unshift(at);
    return path;
  };

  const describe = (tree, view, node) => {
    const whole = tree.roots.reduce((sum, root) => sum + view.times[root], 0);
    const share = whole > 0 ? `, ${percent(view.times[node] / whole)} of all` : "";
    if (!view.isDifference) return `${tree.name(node)}: ${time(view.times[node])}${share}`;
    const {times: [before, after], halfWidth, sure} = tree.data;
    const reach = halfWidth[node] >= 0 ? ` ± ${time(halfWidth[node])}` : "";
    const difference = after[node] - before[node];
    return `${tree.name(node)}: ${time(before[node])} → ${time(after[node])}, ${difference < 0 ? "−" : "+"}${time(Math.abs(difference))}${reach}` +
      (sure.has(node) ? "" : ", not significant");
  };

  const paint = (tree, view, frame, node) => {
    if (!view.isDifference) {
      let hash = 0;
      for (const letter of tree.name(node)) hash = (hash * 31 + letter.codePointAt(0)) % 997;
      frame.style.setProperty("--strength", `${14 + hash % 20}%`);
      if (view.colour) frame.classList.add(view.colour);
      return;
    }
    if (!tree.data.sure.has(node)) return;
    const [before, after] = tree.data.times.map(times => times[node]);
    const change = Math.abs(after - before) / Math.max(before, after);
    frame.style.setProperty("--strength", `${Math.round(22 + 40 * Math.min(1, 2 * change))}%`);
    frame.classList.add(after > before ? "slower" : "quicker");
  };

  // Where each visible frame is: the way to the focus over the whole width, and below it what is wide enough to be seen.
  const layOut = (tree, view, focus, width) => {
    const frames = [], below = focus < 0 ? tree.roots : [focus];
    const way = focus < 0 ? [] : pathOf(tree, focus).slice(0, -1);
    way.forEach((node, depth) => frames.push({node, depth, left: 0, width}));
    const whole = below.reduce((sum, node) => sum + view.times[node], 0);
    const scale = whole > 0 ? width / whole : 0;
    const place = (nodes, left, depth) => {
      const ordered = nodes.filter(node => view.times[node] * scale >= kLeast).sort((a, b) => view.times[b] - view.times[a]);
      for (const node of ordered) {
        const wide = view.times[node] * scale;
        frames.push({node, depth, left, width: wide});
        waiting.push([tree.children[node], left, depth + 1]);
        left += wide;
      }
    };
    const waiting = [[below, 0, way.length]];
    while (waiting.length > 0) place(...waiting.pop());
    return frames;
  };

  const start = element => {
    const tree = readTree(element);
    const {data} = tree;
    const views = data.commands.map(([colour, title], command) => ({title, colour: colour.split(" ")[0], times: data.times[command], isDifference: false}));
    if (data.halfWidth) views.push({title: "difference (widths: the second command's time)", times: data.times[1], isDifference: true});
    let view = views.at(-1), focus = -1, sought = "";

    const tools = make("div", {className: "tools"});
    const choice = make("select", {ariaLabel: "what the graph shows"});
    views.forEach(({title}, i) => choice.append(make("option", {value: i, textContent: title})));
    choice.value = views.length - 1;
    const search = make("input", {type: "search", placeholder: "search for functions", ariaLabel: "search for functions"});
    const back = make("button", {type: "button", textContent: "show all", disabled: true});
    const found = make("span", {className: "faint"});
    tools.append(choice, search, back, found);
    const said = make("p", {className: "said", ariaLive: "polite"});
    const area = make("div", {className: "frames", role: "group", ariaLabel: "call paths, the program at the top"});
    element.append(tools, said, area);

    const isSought = node => sought !== "" && tree.name(node).toLowerCase().includes(sought);
    const say = node => { said.textContent = describe(tree, view, node); };

    const draw = wanted => {
      const frames = layOut(tree, view, focus, area.clientWidth);
      area.style.setProperty("--height", `${kRow * (1 + frames.reduce((most, {depth}) => Math.max(most, depth), 0))}px`);
      area.replaceChildren(...frames.map(({node, depth, left, width}) => {
        const name = tree.name(node);
        const frame = make("button", {type: "button", className: "frame", tabIndex: -1, ariaLabel: describe(tree, view, node)});
        if (width > 24) frame.textContent = name;
        frame.dataset.node = node;
        Object.assign(frame.style, {left: `${left}px`, width: `${Math.max(width - 1, 1)}px`, top: `${kRow * depth}px`});
        paint(tree, view, frame, node);
        if (isSought(node)) frame.classList.add("found");
        return frame;
      }));
      back.disabled = focus < 0;
      const first = area.querySelector(`[data-node="${wanted ?? focus}"]`) ?? area.firstElementChild;
      if (first) first.tabIndex = 0;
      if (first && wanted !== undefined) first.focus();
      said.textContent = "";
      if (!first) said.textContent = "There are no samples of this command.";
      else say(+first.dataset.node);
    };

    // Time below more than one frame that is found counts once.
    const countFound = () => {
      if (sought === "") { found.textContent = ""; return; }
      const isBelow = new Uint8Array(tree.count);
      let sum = 0, whole = 0;
      for (let node = 0; node < tree.count; ++node) {
        const parent = data.parent[node];
        if (parent < 0) whole += view.times[node];
        const isInside = parent >= 0 && isBelow[parent] === 1, isHit = isSought(node);
        if (isHit && !isInside) sum += view.times[node];
        isBelow[node] = isInside || isHit ? 1 : 0;
      }
      found.textContent = whole > 0 ? `found: ${percent(sum / whole)} of the time` : "";
    };

    const zoom = node => { focus = node; draw(node < 0 ? undefined : node); };
    const move = (frame, key) => {
      const node = +frame.dataset.node, parent = data.parent[node];
      const isDrawn = other => area.querySelector(`[data-node="${other}"]`) !== null;
      const widest = nodes => nodes.filter(isDrawn).sort((a, b) => view.times[b] - view.times[a]);
      const siblings = widest(parent < 0 ? tree.roots : tree.children[parent]);
      const at = siblings.indexOf(node);
      const next = {ArrowUp: parent, ArrowDown: widest(tree.children[node])[0], ArrowLeft: siblings[at - 1], ArrowRight: siblings[at + 1]}[key];
      const target = next === undefined || next < 0 ? null : area.querySelector(`[data-node="${next}"]`);
      if (!target) return;
      frame.tabIndex = -1;
      target.tabIndex = 0;
      target.focus();
    };

    area.addEventListener("click", event => {
      const frame = event.target.closest(".frame");
      if (frame) zoom(+frame.dataset.node);
    });
    for (const kind of ["pointerover", "focusin"])
      area.addEventListener(kind, event => { const frame = event.target.closest(".frame"); if (frame) say(+frame.dataset.node); });
    area.addEventListener("keydown", event => {
      const frame = event.target.closest(".frame");
      if (!frame) return;
      if (event.key === "Escape") zoom(-1);
      else if (event.key.startsWith("Arrow")) move(frame, event.key);
      else return;
      event.preventDefault();
    });
    back.addEventListener("click", () => zoom(-1));
    choice.addEventListener("change", () => { view = views[choice.value]; countFound(); draw(); });
    search.addEventListener("input", () => { sought = search.value.trim().toLowerCase(); countFound(); draw(); });
    let drawnWidth = 0;
    const fit = () => {
      if (area.clientWidth === drawnWidth || area.clientWidth === 0) return;
      drawnWidth = area.clientWidth;
      draw();
    };
    fit();
    new ResizeObserver(fit).observe(area);
  };

  // A graph is read and drawn when it comes near the window, so that a page with large ones appears at once, or before it is printed.
  const graphs = document.querySelectorAll(".icicle"), begun = new WeakSet();
  const begin = graph => {
    if (begun.has(graph)) return;
    begun.add(graph);
    observer.unobserve(graph);
    start(graph);
  };
  const observer = new IntersectionObserver(entries => {
    for (const {isIntersecting, target} of entries) if (isIntersecting) begin(target);
  }, {rootMargin: "400px"});
  for (const graph of graphs) observer.observe(graph);
  addEventListener("beforeprint", () => graphs.forEach(begin));
})();
