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
  placeholder: "Message the agent. / for commands, @ for files",
  placeholderWorking: "Queue a message for when this turn ends",
  placeholderEnded: "Send a message to restart the agent",
  completions: "Completions",
  completionsCount: (n: number) => (n === 1 ? "1 completion" : `${n} completions`),

  // The buttons.
  send: "Send",
  sendEnded: "Resume and send",
  queue: "Queue",
  steer: "Steer now",
  interrupt: "Interrupt",
  interruptAgain: "Press Esc again to interrupt the turn",
  attach: "Attach files",
  remove: (name: string) => `Remove ${name}`,
  attachments: "Attachments",
  dropHere: "Drop images and text files here",

  // Why it cannot be used.
  mayNot: "This device can view but not send messages. It needs the scope prompt.",
  notResumable: "This conversation wasn't saved, so it can't be resumed. A message starts a new one.",
  offline: "Can't reach the hub. Your message is kept here until it's back.",
  heldBack: "Queue on hold: messages wait until you press Continue.",
  agentOffline: "Can't reach the agent. Messages wait in the queue.",

  foreign: "Another program runs this agent and decides who may prompt it.",

  // The list of keys.
  keys: "Writing",
  keySend: "Send, or accept the completion",
  keyLine: "New line",
  keySteer: "Send into the running turn",
  keyHistory: "Previous messages",
  keyMode: "Next permission mode",

  // Attaching.
  pasted: "Pasted file",
  isEmpty: (name: string) => `${name} is empty.`,
  tooLarge: (name: string, most: number) =>
    `${name} is too large (maximum ${size(most)}). Mention its path instead, so that the agent can read it.`,
  notAnImage: (name: string) => `This browser can't read ${name}. Convert it to PNG or JPEG.`,
  notText: (name: string) => `${name} isn't an image, a PDF or UTF-8 text. Mention its path instead.`,
  tooMany: (most: number) => `Maximum ${most} attachments per message.`,
  tooMuch: (most: number) => `Maximum ${size(most)} of attachments per message.`,

  // The queue.
  queueTitle: (n: number) => (n === 1 ? "1 queued message" : `${n} queued messages`),
  queueLabel: "Queued messages",
  by: (name: string) => `by ${name}`,
  edit: "Edit",
  editLabel: "Edit queued message",
  save: "Save",
  cancel: "Cancel",
  editTooLate: "The message was sent before you changed it",
  editGivenBack: "Your text is in the field below. Send it if you still need it.",
  takeBack: "Unqueue",
  steerThis: "Steer now",
  withBlocks: (n: number) => (n === 1 ? "with 1 attachment" : `with ${n} attachments`),
  noText: "No text",
} as const;
