/** Texts of the login page, of the connection and of errors that the page itself makes. */
export const coreTexts = {
  you: "You",
  unreachable: "The server cannot be reached",
  unreachableHint: "See that switchboard runs and that the network is there, then try again.",
  fault: "Something went wrong in this page",
  refused: (status: number) => `The server answered with ${status}`,
  refusedHint: "Something between this page and the server may be in the way. Try again in a moment.",
  noSuchThing: "There is no such thing",
  cutOff: "The answer of the server cannot be read",

  tokenInvalid: "Your access has expired or was revoked.",
  closedFor: "The connection was lost.",
  silent: "Nothing was heard from the server for a while.",
  serverLeft: "The server is restarting.",

  login: {
    title: "Switchboard",
    lead: "Watch, approve and steer your agents.",
    how: "To open this page, run this in a terminal on the machine where Switchboard runs:",
    command: "switchboard console",
    why: "It opens this page with a code that is good once and for a short while.",
    code: "Code, address or token",
    codeHint: "Paste what the terminal prints. It is kept in the tabs of this browser until they are closed.",
    enter: "Open the console",
    entering: "Opening…",
    asking: "Looking for an open tab…",
    empty: "Paste a code, an address or a token first.",
    wrong: "This code is not valid",
    wrongHint: "A code is good once and for a short while. Run switchboard console again for a new one.",
    wrongToken: "This token is not valid",
    wrongTokenHint: "It may have expired or been revoked. Run switchboard console for a code.",
    copy: "Copy the command",
    leftOut: "You have left. This tab has forgotten its access.",
  },

  /** The name of a token, as lists of tokens and answers show it. */
  tokenName: (browser: string) => `console, ${browser}`,
  browser: "browser",
  gapNotLoaded: (events: number) => `${events.toLocaleString("en")} events between are not loaded`,
} as const;
