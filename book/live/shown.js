// What a program shows, as a notebook would: players, text, errors, and what `check` answers.

export function shown({ outputs, answers }) {
  const box = document.createElement("div");
  box.className = "live-output";
  for (const [kind, text] of outputs) {
    const output = document.createElement("div");
    output.className = `output live-${kind}`;
    if (kind === "html") output.innerHTML = text;
    else output.append(pre(text));
    box.append(output);
  }
  for (const { exercise, right, message } of answers) {
    const answer = document.createElement("p");
    answer.className = right ? "live-right" : "live-wrong";
    const verdict = document.createElement("strong");
    verdict.textContent = `${exercise}: ${right ? "Right." : "Not yet."} `;
    answer.append(verdict, ...coded(message));
    box.append(answer);
  }
  return box;
}

// Scripts that arrive as text don't run; made anew, they do.
export function run(box) {
  for (const script of box.querySelectorAll("script")) {
    if (script.type === "application/json") continue;
    const made = document.createElement("script");
    made.type = script.type;
    made.textContent = script.textContent;
    script.replaceWith(made);
  }
}

function pre(text) {
  const element = document.createElement("pre");
  element.textContent = text;
  element.tabIndex = 0; // it may scroll, and then the keyboard needs a way in
  return element;
}

// A hint writes code between backticks.
function coded(text) {
  return text.split("`").map((part, k) => {
    if (k % 2 === 0) return document.createTextNode(part);
    const code = document.createElement("code");
    code.textContent = part;
    return code;
  });
}
