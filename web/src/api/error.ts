import { coreTexts as t } from "../texts/core";
import type { Question } from "./types";

/** An error that the server, or the way to it, gave. `title` and `hint` are for people, `code` is for programs. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string | undefined;
  readonly hint: string | undefined;
  /** The question that somebody else has settled, with already_settled. */
  readonly question: Question | undefined;
  readonly session: string | undefined;

  constructor(e: {
    status: number;
    code: string;
    title: string;
    detail?: string;
    hint?: string;
    question?: Question;
    session?: string;
  }) {
    super(e.title);
    this.name = "ApiError";
    this.status = e.status;
    this.code = e.code;
    this.detail = e.detail;
    this.hint = e.hint;
    this.question = e.question;
    this.session = e.session;
  }

  /** What it is, for people. The same as message. */
  get title(): string {
    return this.message;
  }
}

/** An error in one paragraph, for places that take a text. */
export function sentence(error: ApiError): string {
  return [error.title, error.detail, error.hint].flatMap((part) => (part ? [part.replace(/[^.?!]$/, "$&.")] : [])).join(" ");
}

/** The error of a request that did not reach the server, or whose answer did not come. */
export function unreachable(): ApiError {
  return new ApiError({ status: 0, code: "unreachable", title: t.unreachable, hint: t.unreachableHint });
}

/** What somebody threw, as an ApiError: a fault of this page is one with the code "internal". */
export function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const detail = thrown instanceof Error ? thrown.message : String(thrown);
  return new ApiError({ status: 0, code: "internal", title: t.fault, detail });
}

/** Reads the error out of an answer of the server, or of something between that answers in its name. */
export async function problemOf(response: Response): Promise<ApiError> {
  const plain = () =>
    new ApiError({
      status: response.status,
      code: response.status === 401 ? "unauthorized" : "internal",
      title: t.refused(response.status),
      hint: t.refusedHint,
    });
  let body: unknown;
  try {
    body = await response.json();
  } catch {
    return plain();
  }
  if (!isProblem(body)) return plain();
  return new ApiError({ ...body, status: response.status });
}

interface Problem {
  code: string;
  title: string;
  detail?: string;
  hint?: string;
  question?: Question;
  session?: string;
}

function isProblem(body: unknown): body is Problem {
  return (
    typeof body === "object" &&
    body !== null &&
    "code" in body &&
    typeof body.code === "string" &&
    "title" in body &&
    typeof body.title === "string"
  );
}

/** Whatever was thrown, as an error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
