/** A size as people read it. */
function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} kB`;
  return `${(bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0).replace(/\.0$/, "")} MB`;
}

/** What the composer and the queue say. */
export const composeTexts = {
  size,

  // The field.
  label: "Message to the agent",
  placeholder: "Write to the agent. / for commands, @ for files",
  placeholderWorking: "Message for after this turn",
  placeholderEnded: "Write to start the agent again",
  completions: "Completions",
  completionsCount: (n: number) => (n === 1 ? "1 completion" : `${n} completions`),

  // The buttons.
  send: "Send",
  sendEnded: "Resume and send",
  queue: "Queue",
  steer: "Steer now",
  interrupt: "Interrupt",
  interruptAgain: "Press esc again to interrupt the turn",
  attach: "Attach files",
  remove: (name: string) => `Remove ${name}`,
  attachments: "Attachments",
  dropHere: "Drop images and text files here",

  // Why it cannot be used.
  mayNot: "This token may only look on. Log in with one that has the scope prompt to write.",
  notResumable: "The conversation was not kept, so that it cannot be gone on with. A message would begin a new one.",
  offline: "The hub cannot be reached. What you write is kept here until it can.",
  heldBack: "The queue is held back: what you send waits until the session is released.",
  agentOffline: "The agent cannot be reached now. What you send waits in the queue.",

  foreign: "The agent belongs to another program. Whether others may prompt it is up to that program.",

  // The list of keys.
  keys: "Writing",
  keySend: "Send, or complete what is offered",
  keyLine: "New line",
  keySteer: "Write into the running turn",
  keyHistory: "What was sent before",
  keyMode: "Next permission mode",

  // Attaching.
  pasted: "Pasted file",
  isEmpty: (name: string) => `${name} is empty.`,
  tooLarge: (name: string, most: number) =>
    `${name} is too large: at most ${size(most)} can be attached. Name its path instead, and the agent reads what it needs.`,
  notAnImage: (name: string) => `${name} is an image that this browser cannot read. Make it a PNG or a JPEG first.`,
  notText: (name: string) => `${name} is neither an image nor a PDF nor a text in UTF-8. Name its path instead.`,
  tooMany: (most: number) => `A message can have ${most} attachments.`,
  tooMuch: (most: number) => `All attachments of a message together can have ${size(most)}.`,

  // The queue.
  queueTitle: (n: number) => (n === 1 ? "1 message waits" : `${n} messages wait`),
  queueLabel: "Queued messages",
  by: (name: string) => `by ${name}`,
  edit: "Edit",
  editLabel: "Edit the queued message",
  save: "Save",
  cancel: "Cancel",
  editTooLate: "The message had been sent before it was changed",
  editGivenBack: "What you have written is in the field below. Send it if it is still needed.",
  takeBack: "Take back",
  steerThis: "Steer now",
  withBlocks: (n: number) => (n === 1 ? "with 1 attachment" : `with ${n} attachments`),
  noText: "No text",
} as const;
