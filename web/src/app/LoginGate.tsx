import { useEffect, useState } from "react";
import type { ApiError } from "../api/error";
import type { TokenBox } from "../api/token";
import { HubContext } from "../store/hub";
import { LiveHub } from "../store/liveHub";
import { useReadable } from "../store/readable";
import { App } from "./App";
import { Arriving, Login } from "./Login";
import { parse } from "./router";

/** Shows the console to those who have a token, and the login page to others. */
export function LoginGate({ token, arrived }: { token: TokenBox; arrived: Promise<ApiError | undefined> }) {
  const { held, reason } = useReadable(token.state);
  const [arrival, setArrival] = useState<{ error?: ApiError }>();
  useEffect(() => {
    let here = true;
    void arrived.then((error) => here && setArrival({ error }));
    return () => {
      here = false;
    };
  }, [arrived]);
  if (held && arrival) return <Console key={held.text} token={token} />;
  if (!arrival) return <Arriving />;
  // Who had a token meanwhile is not interested in the code that the tab was opened with.
  return <Login token={token} reason={reason} error={reason ? undefined : arrival.error} />;
}

/** The console, with a hub that lives as long as it does. */
function Console({ token }: { token: TokenBox }) {
  const [hub, setHub] = useState<LiveHub>();
  useEffect(() => {
    const opened = new LiveHub({ token });
    setHub(opened);
    // The session of the address is read while its page is still being loaded: the hub keeps it for a while after it was released.
    const route = parse(window.location.hash);
    if (route.page === "session") opened.open(route.id).release();
    return () => opened.close();
  }, [token]);
  if (!hub) return null;
  return (
    <HubContext value={hub}>
      <App />
    </HubContext>
  );
}
