// What the theme and the notebooks leave to be mended, for print and for screen readers.
addEventListener("DOMContentLoaded", () => {
  // A player carries a picture of one telling step for where no script runs; print has use for it too.
  for (const player of document.querySelectorAll("[data-autodiff-player]")) {
    const picture = player.querySelector("img")?.parentElement.cloneNode(true);
    picture?.classList.add("key-frame");
    if (picture) player.after(picture);
  }
  // The corner of a table is no heading of anything.
  for (const heading of document.querySelectorAll("th")) {
    if (!heading.textContent.trim()) heading.replaceWith(document.createElement("td"));
  }
  document.querySelector(".navbar-brand")?.parentElement.setAttribute("role", "banner");
});
