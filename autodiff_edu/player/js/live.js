/**
 * Joins a player's model in the kernel to the players in the page that show it.
 *
 * anywidget runs this module as it stands, which is why it imports nothing. It calls `initialize` as soon as the model
 * arrives, although no view of it is in the page: what a notebook shows and stores of a player is HTML, and goes on
 * playing when the model is gone. Only in a box of widgets is a player a view, and then it asks for that HTML.
 */

const MOUNTED = "autodiff-mounted";

// What a narrow player keeps at the lower edge sticks to the notebook's, and not to that of the boxes around it.
const AROUND = ".jp-OutputArea, .jp-OutputArea-child, .jp-OutputArea-output, .widget-box";
const STICKING =
  `.jp-CodeCell:not(.jp-mod-outputsScrolled) :is(${AROUND}):has([data-autodiff-player]) { overflow: visible; }`;

export default { initialize, render };

/** @typedef {import("./player.js").Player} Player */

/** @param {{ model: Model }} widget */
function initialize({ model }) {
  const key = model.get("key");
  /** @type {WeakRef<HTMLElement>[]} a cell that is run again takes its players out of the page */
  let hosts = [];
  const players = () => {
    hosts = hosts.filter((host) => host.deref());
    return hosts.map((host) => host.deref().autodiffPlayer);
  };
  /** @param {HTMLElement} host */
  const join = (host) => {
    if (host.dataset?.model !== key || !host.autodiffPlayer) return;
    const player = host.autodiffPlayer;
    if (!players().includes(player)) hosts.push(new WeakRef(host));
    player.show(model.get("step") - 1);
    player.ask(model.get("predict"));
    player.join((name, value) => tell(player, name, name === "step" ? Number(value) + 1 : value));
    play();
    try { model.send("mounted"); } catch { /* no kernel hears it */ }
  };
  /** @type {(player: Player, name: string, value: unknown) => void} */
  const tell = (player, name, value) => {
    if (name === "playing" && value) for (const other of players()) if (other !== player) other.play(false);
    model.set(name, value);
    // Without a kernel nobody else wants to know; the reader goes on all the same.
    try { model.save_changes(); } catch { /* the kernel is gone */ }
  };
  /** Of several views of a player one plays, and the others follow it. */
  const play = () => {
    const all = players();
    if (!model.get("playing")) for (const player of all) player.play(false);
    else if (!all.some((player) => player.isPlaying())) all[0]?.play(true);
  };
  const onMounted = (/** @type {Event} */ event) => join(/** @type {HTMLElement} */ (event.target));
  /** @type {[event: string, callback: (message: unknown) => void][]} */
  const heard = [
    ["change:step", () => { for (const player of players()) player.show(model.get("step") - 1); }],
    ["change:predict", () => { for (const player of players()) player.ask(model.get("predict")); }],
    ["change:playing", play],
    ["msg:custom", (message) => message === "stage" && players().at(-1)?.openStage()],
  ];
  for (const [event, callback] of heard) model.on(event, callback);
  document.addEventListener(MOUNTED, onMounted);
  for (const host of document.querySelectorAll("[data-autodiff-player]")) join(/** @type {HTMLElement} */ (host));
  return () => {
    document.removeEventListener(MOUNTED, onMounted);
    for (const player of players()) player.join(null);
  };
}

/**
 * A view in a box of widgets.
 * @param {{ model: Model, el: HTMLElement }} view
 */
function render({ model, el }) {
  el.append(Object.assign(document.createElement("style"), { textContent: STICKING }));
  const draw = () => {
    const [fresh, before] = [document.createElement("div"), [...el.querySelectorAll(":scope > div")]];
    fresh.innerHTML = model.get("fragment");
    // What stood there stays until the other is drawn, so that nothing jumps while a slider moves.
    if (before.length) fresh.style.cssText = `position: absolute; visibility: hidden; width: ${el.clientWidth}px`;
    fresh.addEventListener(MOUNTED, () => {
      for (const one of before) one.remove();
      fresh.removeAttribute("style");
    }, { once: true });
    el.append(fresh);
    for (const script of fresh.querySelectorAll("script[type=module]")) { // which innerHTML does not run
      const { type, textContent } = /** @type {HTMLScriptElement} */ (script);
      script.replaceWith(Object.assign(document.createElement("script"), { type, textContent }));
    }
  };
  if (model.get("fragment")) draw();
  model.on("change:fragment", draw);
  if (!model.get("fragment")) model.send("fragment");
  return () => model.off("change:fragment", draw);
}
