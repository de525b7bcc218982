/** Texts of the login page, of the connection and of errors that the page itself makes. */
export const coreTexts = {
  you: "You",
  unreachable: "Can't reach the hub",
  unreachableHint: "Check that Switchboard is running and that you are online, then try again.",
  fault: "Something went wrong in this page",
  refused: (status: number) => `The hub answered with status ${status}`,
  refusedHint: "A proxy between this page and the hub may have failed. Try again in a moment.",
  noSuchThing: "Not found",
  cutOff: "The hub's answer was cut off",

  tokenInvalid: "This device was signed out: its access expired or was revoked.",
  closedFor: "Connection lost.",
  silent: "The hub stopped responding.",
  serverLeft: "The hub is restarting.",

  login: {
    title: "Switchboard",
    lead: "Watch, approve and steer your agents.",
    how: "To sign in, run this on the machine where Switchboard runs:",
    command: "switchboard console",
    why: "It opens this page with a code that works once, for five minutes.",
    phone: "On a phone, add --phone and scan the QR code.",
    code: "Code, link or token",
    codeHint: "Paste what the terminal prints. This browser stays signed in for 30 days.",
    codeHintTab: "Paste what the terminal prints. Without HTTPS you stay signed in until you close this tab.",
    enter: "Sign in",
    entering: "Signing in…",
    asking: "Checking for an open tab…",
    empty: "Paste a code, a link or a token first.",
    wrong: "This code isn't valid",
    wrongHint: "A code works once, for five minutes. Run switchboard console for a new one.",
    wrongToken: "This token isn't valid",
    wrongTokenHint: "It may have expired or been revoked. Run switchboard console for a code.",
    copy: "Copy the command",
    leftOut: "You signed out.",
    leftElsewhere: "You signed out in another tab.",
  },

  /** What a device is called whose browser doesn't say. */
  browser: "Browser",
  gapNotLoaded: (events: number) => `${events.toLocaleString("en")} events in between aren't loaded`,
} as const;

/** Who, within a sentence. */
export function whom(who: string): string {
  return who === "You" ? "you" : who;
}
