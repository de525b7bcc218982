/**
 * The client id of an intent: the same request gets the same id, however often it is tried; another request is another intent. Returns a
 * function that gives the id for a request.
 */
export function intentIds(make: () => string = () => crypto.randomUUID()): (request: unknown) => string {
  let last: { request: string; id: string } | undefined;
  return (request) => {
    const text = JSON.stringify(request);
    if (last?.request !== text) last = { request: text, id: make() };
    return last.id;
  };
}
