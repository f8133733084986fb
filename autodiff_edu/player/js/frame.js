/**
 * Puts a box of widgets in place of the HTML that a cell shows, for as long as the kernel has the box.
 *
 * A stored notebook has no models, and JupyterLab shows only an error in place of a view without one. So the cell shows
 * HTML; anywidget runs this module, as it stands, when the model arrives, and here the view is made.
 */

const SHOWN = "autodiff-shown"; // the cell's output says so

export default { initialize };

/** @param {{ model: Model & { widget_manager: any } }} widget */
function initialize({ model }) {
  const [filled, manager] = [new WeakSet(), model.widget_manager];
  const fill = async (/** @type {Element} */ host) => {
    filled.add(host);
    const box = await manager.get_model(model.get("box").replace("IPY_MODEL_", ""));
    const view = (await manager.create_view(box)).luminoWidget;
    // As Lumino attaches a widget, which no module of the page hands out.
    view.processMessage({ type: "before-attach" });
    // JupyterLab leaves a margin beside HTML, and none beside widgets.
    /** @type {HTMLElement} */ (host).style.marginRight = `-${getComputedStyle(host.parentElement).paddingRight}`;
    host.replaceChildren(view.node);
    view.processMessage({ type: "after-attach" });
  };
  const fillAll = () => {
    const hosts = [...document.querySelectorAll(`[data-autodiff-frame="${model.get("key")}"]`)];
    for (const host of hosts) if (!filled.has(host)) fill(host).catch(reportError);
  };
  document.addEventListener(SHOWN, fillAll);
  fillAll();
  return () => document.removeEventListener(SHOWN, fillAll);
}
