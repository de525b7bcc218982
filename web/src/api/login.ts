import { coreTexts as t } from "../texts/core";
import { type ApiOptions, createApi } from "./client";
import { ApiError, asApiError } from "./error";
import { browserName, type Held, knownScopes, readPasted, TokenBox } from "./token";

/** How long a new tab waits for an answer of the others. */
const askFor = 500;

/** What lists of devices call this browser. */
function ownName(): string {
  return browserName(navigator.userAgent) ?? t.browser;
}

/** Exchanges a one-time code for a token, half of which is in a cookie if the connection is private. */
export async function loginByCode(code: string, options: ApiOptions = {}): Promise<Held> {
  try {
    const made = await createApi(new TokenBox(), options).call("login", { body: { code, name: ownName(), cookie: true } });
    const held: Held = { text: made.text, name: made.name, scopes: knownScopes(made.scopes) };
    return made.cookie ? { ...held, cookie: true } : held;
  } catch (e) {
    const error = asApiError(e);
    if (error.status !== 401 && error.status !== 422) throw error;
    throw new ApiError({ status: error.status, code: error.code, title: t.login.wrong, hint: t.login.wrongHint });
  }
}

/**
 * Takes a token as somebody pasted it. What it may do only the list of tokens says, which is for admins: of one that may not read it, the
 * other scopes are assumed, and the server refuses what it may not do.
 */
export async function loginByToken(text: string, options: ApiOptions = {}): Promise<Held> {
  const wrong = () =>
    new ApiError({ status: 401, code: "unauthorized", title: t.login.wrongToken, hint: t.login.wrongTokenHint });
  // Anything else cannot be sent in a header, and would look like a server that cannot be reached.
  if (!/^[!-~]+$/.test(text)) throw wrong();
  const box = new TokenBox();
  box.set({ text, name: "", scopes: [] });
  const api = createApi(box, options);
  try {
    await api.call("get-info");
  } catch (e) {
    const error = asApiError(e);
    if (error.status !== 401) throw error;
    throw wrong();
  }
  try {
    const id = text.split("_")[1];
    const listed = (await api.call("list-tokens")).tokens?.find((token) => token.id === id);
    return { text, name: listed?.name ?? "", scopes: knownScopes(listed?.scopes ?? ["observe", "prompt", "approve", "admin"]) };
  } catch (e) {
    if (asApiError(e).status !== 403) throw e;
    return { text, name: "", scopes: ["observe", "prompt", "approve"] };
  }
}

/** Takes what was pasted into the login page. */
export async function loginBy(pasted: string, options: ApiOptions = {}): Promise<Held> {
  const read = readPasted(pasted);
  if (!read) throw new ApiError({ status: 0, code: "invalid", title: t.login.empty });
  return "token" in read ? loginByToken(read.token, options) : loginByCode(read.code, options);
}

/** What a tab does when it is opened: it takes the code of its address, else its own token, else asks the other tabs. */
export async function arrive(box: TokenBox, code: string | undefined, options: ApiOptions = {}): Promise<ApiError | undefined> {
  let failure: ApiError | undefined;
  if (code) {
    try {
      box.set(await loginByCode(code, options));
    } catch (e) {
      failure = asApiError(e);
    }
  }
  if (!box.get()) {
    const given = await box.ask(askFor);
    if (given) box.set(given);
  }
  box.serve();
  return box.get() ? undefined : failure;
}
