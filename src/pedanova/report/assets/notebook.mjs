/* The page inside a cell of a notebook: a closed frame, and messages between it and the kernel.
   The page asks {pedanova: number, part, question, client, …} and is answered {pedanova: number, answer};
   {pedanova: "open"} says that it listens, {pedanova: "moved", question} what it asks now; {pedanova: "move", question}
   makes it ask something else. */
const asked = new WeakMap(); // of each model, what its page asked last: a cell that is drawn again begins there

function render({ model, el }) {
  const view = Math.random().toString(36).slice(2); // one model may be shown in several cells
  const lanes = new Map(); // what waits for the kernel: one question of each kind, and the newest behind it
  const frame = document.createElement("iframe");
  frame.title = "pedanova: hyperparameter importance";
  frame.setAttribute("sandbox", "allow-scripts allow-downloads allow-modals allow-popups"); // nothing of the notebook's own
  frame.style.cssText = "width:100%;border:0;display:block";

  const post = (message) => frame.contentWindow && frame.contentWindow.postMessage(message, "*");
  const size = () => { frame.style.height = `${model.get("height")}px`; };
  const move = (question) => question && post({ pedanova: "move", question });
  const wanted = () => { asked.delete(model); move(model.get("wanted").question); };

  /* A kernel answers one question after the other: of those that wait in a lane only the newest is worth asking. */
  function ask(message) {
    const lane = JSON.stringify([message.part, message.client, message.sure]);
    const waiting = lanes.get(lane);
    if (!waiting) {
      lanes.set(lane, { next: null });
      model.send({ ...message, view, lane });
      return;
    }
    if (waiting.next) post({ pedanova: waiting.next.pedanova, answer: { stale: true } });
    waiting.next = message;
  }

  function answered(message) {
    if (!message || message.view !== view) return;
    post({ pedanova: message.pedanova, answer: message.answer });
    const waiting = lanes.get(message.lane);
    lanes.delete(message.lane);
    if (waiting && waiting.next) ask(waiting.next);
  }

  function heard(event) {
    const data = event.data;
    if (event.source !== frame.contentWindow || !data || typeof data !== "object") return;
    if (data.pedanova === "open") move(asked.get(model) || model.get("wanted").question);
    else if (data.pedanova === "moved") {
      asked.set(model, data.question);
      model.send({ pedanova: "moved", question: data.question });
    } else if (typeof data.pedanova === "number") ask(data);
  }

  window.addEventListener("message", heard);
  model.on("msg:custom", answered);
  model.on("change:wanted", wanted);
  model.on("change:height", size);
  size();
  frame.srcdoc = model.get("page");
  el.append(frame);
  return () => {
    window.removeEventListener("message", heard);
    model.off("msg:custom", answered);
    model.off("change:wanted", wanted);
    model.off("change:height", size);
    frame.remove();
  };
}

export default { render };
