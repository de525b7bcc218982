import { useState } from "react";
import type { Code } from "../api/types";
import { type Scope, useHub } from "../store/hub";
import { appTexts as texts } from "../texts/app";
import { CopyButton } from "../ui/CopyButton";
import { Note } from "../ui/notes";
import { MakeDialog, ScopeBoxes } from "./Access";
import css from "./Settings.module.css";

const t = texts.settings;

/** Makes a link that signs in another browser, once. */
export function LinkDialog({ onClose }: { onClose(): void }) {
  const hub = useHub();
  const [scopes, setScopes] = useState<readonly Scope[]>(["observe", "prompt", "approve"]);
  return (
    <MakeDialog<Code>
      title={t.linkTitle}
      action={t.makeLink}
      isDisabled={scopes.length === 0}
      make={() => hub.api.call("create-code", { body: { scopes: [...scopes] } })}
      show={(code) => <MadeLink code={code} />}
      onClose={onClose}
    >
      <p className={css.why}>{t.linkWhy}</p>
      <ScopeBoxes label={t.linkScopes} scopes={scopes} onChange={setScopes} />
    </MakeDialog>
  );
}

/** The link: with a QR code if another device reaches the hub, else with what to switch on. */
function MadeLink({ code }: { code: Code }) {
  const link = code.device_url ?? code.url;
  const local = !code.device_url && isLocal(code.url);
  return (
    <div className={css.form}>
      <Note tone="ok" title={t.linkMade}>
        {code.qr && code.device_url && (
          <>
            <QRCode modules={code.qr} />
            <p>{t.linkScan}</p>
          </>
        )}
        <div className={css.secret}>
          <code>{link}</code>
          <CopyButton text={link} />
        </div>
        <p>
          {t.linkExpires(new Date(code.expires).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" }))}{" "}
          {local && t.linkLocal}
        </p>
      </Note>
      {code.fingerprint && (
        <div>
          <p>{t.linkFingerprint}</p>
          <code className={css.fingerprint}>
            {code.fingerprint.match(/.{1,24}/g)?.map((part) => (
              <span key={part}>
                {part}
                <wbr />
              </span>
            ))}
          </code>
        </div>
      )}
      {local && (
        <Note title={t.linkPhone}>
          <div className={css.secret}>
            <code>{t.phoneCommand}</code>
            <CopyButton text={t.phoneCommand} label={t.copyCommand} />
          </div>
          <p>{t.linkPhoneThen}</p>
        </Note>
      )}
    </div>
  );
}

function isLocal(url: string): boolean {
  return /^(localhost$|127\.|\[::1\])/.test(new URL(url).hostname);
}

/** A QR code, dark on light in every theme: cameras need that. */
function QRCode({ modules }: { modules: readonly string[] }) {
  const margin = 4;
  const size = modules.length + 2 * margin;
  const path = modules
    .flatMap((row, y) =>
      [...row.matchAll(/1+/g)].map((run) => `M${run.index + margin} ${y + margin}h${run[0].length}v1h-${run[0].length}z`),
    )
    .join("");
  return (
    <svg className={css.qr} viewBox={`0 0 ${size} ${size}`} role="img" aria-label={t.linkQR} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
