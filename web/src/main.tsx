import { createRoot } from "react-dom/client";
import { type ApiError, sentence } from "./api/error";
import { arrive, loginByCode } from "./api/login";
import { tabTokenBox, takeCode } from "./api/token";
import { preload } from "./app/App";
import { LoginGate } from "./app/LoginGate";
import { parse } from "./app/router";
import { startTheme } from "./app/theme";

const root = document.getElementById("root");
if (root) {
  startTheme();
  const token = tabTokenBox();
  // The code leaves the address bar before anything else happens.
  const arrived = arrive(token, takeCode(window.location, window.history));
  preload(parse(window.location.hash));
  // An address with a code may also be opened in a tab that shows the console. Listening first, before the router reads the address.
  window.addEventListener("hashchange", () => {
    const code = takeCode(window.location, window.history);
    if (!code) return;
    void loginByCode(code).then(
      (held) => token.set(held),
      (error: ApiError) => {
        // A code that was used before is no reason to leave; who is not in yet wants to know why it did not work.
        if (!token.get()) token.drop(sentence(error));
      },
    );
  });
  createRoot(root).render(<LoginGate token={token} arrived={arrived} />);
}
