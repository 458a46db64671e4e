// Pictures of nodes and edges. An element with `data-graph` holds JSON, or the address that answers with it:
//
//   {"nodes": [{"id", "label", "state", "href", "focus", "group"}],
//    "edges": [{"source", "target", "label", "kind"}],
//    "layout": "around" | "flow"}
//
// `id`, `label`, `source` and `target` are needed. `state` colours a node: active, stale, pending, superseded, archived,
// rejected, or fresh, ageing, old, gone for what a source says; `group` gives its shape: memory, entity, column, datasource.
// A click on a node opens its `href`. `focus` marks the node that the picture is about. An edge of the `kind` "weak" is
// dashed. `layout` is "around" for what surrounds a node, and "flow" for what leads from left to right, such as lineage.
//
// A picture shows nothing that does not stand as text beside it: it cannot be reached by keyboard, the list can.

import cytoscape from "./vendor/cytoscape.esm.min.mjs";

const GOOD = ["active", "fresh"];
const WARN = ["stale", "pending", "ageing"];
const BAD = ["superseded", "archived", "rejected", "old", "gone"];
const SHAPES = { entity: "round-rectangle", column: "rectangle", datasource: "barrel" };
const LONGEST = 40;

const colour = (name) => {
  // A custom property holds both colours; one that is computed holds the one in use.
  const probe = document.createElement("span");
  probe.className = `colour-${name}`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
};

const looks = () => [
  {
    selector: "node",
    style: {
      label: "data(short)",
      shape: "data(shape)",
      width: 22,
      height: 22,
      "font-size": 12,
      "font-family": getComputedStyle(document.body).fontFamily,
      "text-wrap": "wrap",
      "text-max-width": 130,
      "text-valign": "bottom",
      "text-margin-y": 4,
      color: colour("ink"),
      "background-color": colour("quiet"),
      "text-background-color": colour("card"),
      "text-background-opacity": 0.8,
    },
  },
  ...[[GOOD, "good"], [WARN, "warn"], [BAD, "bad"]].flatMap(([states, name]) =>
    states.map((state) => ({ selector: `node[state = "${state}"]`, style: { "background-color": colour(name) } })),
  ),
  {
    selector: "node[?focus]",
    style: { width: 32, height: 32, "border-width": 4, "border-color": colour("accent"), "font-weight": "bold" },
  },
  {
    selector: "edge",
    style: {
      label: "data(label)",
      width: 1.5,
      "font-size": 10,
      "font-family": getComputedStyle(document.body).fontFamily,
      color: colour("quiet"),
      "line-color": colour("line"),
      "target-arrow-color": colour("quiet"),
      "target-arrow-shape": "triangle",
      "curve-style": "bezier",
      "text-rotation": "autorotate",
      "text-background-color": colour("card"),
      "text-background-opacity": 0.8,
    },
  },
  { selector: 'edge[kind = "weak"]', style: { "line-style": "dashed" } },
];

// A long name without spaces is broken after its parts, or else anywhere.
const breaks = (word) => word.replaceAll(/[._/-]/g, "$&\u200b").replaceAll(/[^\s\u200b]{18}/g, "$&\u200b");
const short = (label) => breaks(label.length > LONGEST ? `${label.slice(0, LONGEST - 1)}…` : label);

function elements(picture) {
  const known = new Set(picture.nodes.map((node) => node.id));
  return [
    ...picture.nodes.map((node) => ({
      data: { ...node, short: short(node.label), shape: SHAPES[node.group] ?? "ellipse" },
    })),
    // An edge whose other end is not in the picture has nowhere to go.
    ...picture.edges
      .filter((edge) => known.has(edge.source) && known.has(edge.target))
      .map((edge, at) => ({ data: { ...edge, id: `edge ${at}`, label: (edge.label ?? "").replaceAll("_", " ") } })),
  ];
}

const FEW = 12;
// What a node takes with its label.
const LABEL = { x: 130, y: 75 };
// How much more than that it needs for labels to lie beside each other, and how high a picture may become for it.
const ROOM = 1.6;
const HIGHEST = 1200;
const spaced = { animate: false, padding: 32, nodeDimensionsIncludeLabels: true };

// What surrounds one node stands in rings around it; where there is much, or no centre, forces place it.
function placed(picture, element) {
  const centre = picture.nodes.find((node) => node.focus);
  if (picture.layout === "flow") {
    const direction = element.clientWidth < 3 * LABEL.x + 100 ? "downward" : "rightward";
    return { ...spaced, name: "breadthfirst", directed: true, direction };
  }
  if (centre && picture.nodes.length <= FEW) {
    const places = rings(picture, centre.id);
    return { ...spaced, name: "preset", positions: (node) => places.get(node.id()), padding: 64 };
  }
  return { ...spaced, name: "cose", nodeRepulsion: 12000, idealEdgeLength: 110 };
}

// The places of nodes around a centre, wider than high. A ring is not quite closed, and turned against the one within, so
// that no edge runs behind a node that it does not belong to.
function rings(picture, centre) {
  const ways = picture.edges.flatMap(({ source, target }) => [[source, target], [target, source]]);
  const angles = new Map([[centre, 0]]);
  const places = new Map([[centre, { x: 0, y: 0 }]]);
  const loose = picture.nodes.map((node) => node.id);
  for (let ring = [centre], distance = 1; places.size < loose.length; distance += 1) {
    let next = ring.map((from) => [from, ways.filter((way) => way[0] === from).map((way) => way[1])]);
    // What hangs on nothing stands outside of all.
    if (!next.some(([, found]) => found.some((id) => !places.has(id)))) next = [[centre, loose]];
    ring = [];
    for (const [from, found] of next) {
      const around = [...new Set(found)].filter((id) => loose.includes(id) && !places.has(id));
      const step = from === centre ? (2 * Math.PI) / (around.length + 0.5) : 0.6;
      around.forEach((id, at) => {
        const angle = angles.get(from) + 0.5 + (from === centre ? at : at - (around.length - 1) / 2) * step;
        angles.set(id, angle);
        places.set(id, { x: 190 * distance * Math.cos(angle), y: 120 * distance * Math.sin(angle) });
        ring.push(id);
      });
    }
  }
  return places;
}

// Where a screen is narrow or nodes are many, the picture becomes higher.
function makeRoom(picture, element) {
  const needed = (ROOM * picture.nodes.length * LABEL.x * LABEL.y) / element.clientWidth;
  if (needed > element.clientHeight) element.style.height = `${Math.min(needed, HIGHEST)}px`;
}

// Layouts leave much of a picture empty and make its labels too small to read: the nodes are moved together, or apart, until
// they fill the shape that there is, and none lies upon another.
function spread(drawn, element, isEven) {
  const nodes = drawn.nodes().toArray();
  const { clientWidth: width, clientHeight: height } = element;
  const zoom = Math.min(1, Math.sqrt((width * height) / (ROOM * nodes.length * LABEL.x * LABEL.y)));
  const room = { x: width / zoom - LABEL.x, y: height / zoom - LABEL.y };
  const at = nodes.map((node) => ({ ...node.position() }));
  for (const axis of ["x", "y"]) {
    const order = at.map((_, node) => node).sort((one, other) => at[one][axis] - at[other][axis]);
    const [first, last] = [at[order[0]][axis], at[order.at(-1)][axis]];
    const filled = order.map((node, rank) => {
      const share = (at[node][axis] - first) / (last - first || 1);
      // Halfway to equal distances, so that what lies far from the rest does not push that together.
      return isEven ? share : (share + rank / Math.max(order.length - 1, 1)) / 2;
    });
    order.forEach((node, rank) => (at[node][axis] = filled[rank] * room[axis]));
  }
  if (!isEven) push(at, room);
  drawn.batch(() => nodes.forEach((node, index) => node.position(at[index])));
  drawn.fit(undefined, 12);
}

function push(at, room) {
  for (let round = 0; round < 60; round += 1) {
    for (const one of at) {
      for (const other of at) {
        if (one === other) continue;
        const over = { x: LABEL.x - Math.abs(one.x - other.x), y: LABEL.y - Math.abs(one.y - other.y) };
        if (over.x <= 0 || over.y <= 0) continue;
        const axis = over.x / LABEL.x < over.y / LABEL.y ? "x" : "y";
        const by = (over[axis] / 4) * (one[axis] < other[axis] ? -1 : 1);
        one[axis] = Math.min(Math.max(one[axis] + by, 0), room[axis]);
        other[axis] = Math.min(Math.max(other[axis] - by, 0), room[axis]);
      }
    }
  }
}

function draw(element, picture) {
  if (picture.layout !== "flow") makeRoom(picture, element);
  const layout = placed(picture, element);
  const drawn = cytoscape({
    container: element,
    elements: elements(picture),
    style: looks(),
    layout,
    minZoom: 0.3,
    maxZoom: 2.5,
    userZoomingEnabled: false,
  });
  if (drawn.zoom() < 1) spread(drawn, element, layout.name !== "cose");
  // A few nodes would fill the picture, larger than any text around it.
  if (drawn.zoom() > 1) {
    drawn.zoom(1);
    drawn.center();
  }
  drawn.on("tap", "node[href]", (event) => window.location.assign(event.target.data("href")));
  drawn.on("mouseover", "node[href]", () => element.classList.add("over-node"));
  drawn.on("mouseout", "node", () => element.classList.remove("over-node"));
  // A wheel scrolls the page until someone has clicked into the picture.
  drawn.on("tap", () => drawn.userZoomingEnabled(true));
  element.addEventListener("mouseleave", () => drawn.userZoomingEnabled(false));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.style(looks()));
  element.dataset.drawn = String(drawn.nodes().length);
}

for (const element of document.querySelectorAll("[data-graph]")) {
  const given = element.dataset.graph;
  const picture = given.startsWith("{") ? JSON.parse(given) : await (await fetch(given)).json();
  draw(element, picture);
}
