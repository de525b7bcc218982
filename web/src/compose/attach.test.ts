import { expect, test, vi } from "vitest";
import { AttachError, attach, base64, contentOf, mostAttachments, noRoom, type Shrink, sniff } from "./attach";

const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
const never: Shrink = async () => {
  throw new Error("nothing is to be shrunk");
};

function big(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(size);
  all.set(bytes);
  return all;
}

test("an image is what its bytes say, whatever it is called", async () => {
  const a = await attach(new File([png], "photo.jpg", { type: "image/jpeg" }), never);
  expect(a.block).toEqual({ type: "image", source: { type: "base64", media_type: "image/png", data: base64(png) } });
  expect(a.image?.size).toBe(png.length);
});

test("an image that is too large is shrunk until it fits", async () => {
  const shrink = vi.fn<Shrink>(async (_file, side, type) => new Blob([new Uint8Array(side > 1600 ? 5_000_000 : 1000)], { type }));
  const a = await attach(new File([big(png, 6_000_000)], "photo.png"), shrink);
  expect(shrink.mock.calls.map((c) => c[1])).toEqual([2576, 1568]);
  expect(a.mediaType).toBe("image/jpeg");
  expect(a.size).toBe(1000);
});

test("an image of another type is drawn anew, and refused if the browser cannot read it", async () => {
  const bmp = new File([new Uint8Array([0x42, 0x4d, 0, 0])], "a.bmp", { type: "image/bmp" });
  expect((await attach(bmp, async (_f, _s, type) => new Blob([png], { type }))).mediaType).toBe("image/png");
  await expect(attach(bmp, async () => undefined)).rejects.toBeInstanceOf(AttachError);
});

test("texts and PDFs are documents with a title", async () => {
  const text = await attach(new File(["a — b"], "notes.md"), never);
  expect(text.block).toEqual({
    type: "document",
    title: "notes.md",
    source: { type: "text", media_type: "text/plain", data: "a — b" },
  });
  const pdf = await attach(new File(["%PDF-1.7"], "x.pdf"), never);
  expect(pdf.block).toMatchObject({
    type: "document",
    title: "x.pdf",
    source: { type: "base64", media_type: "application/pdf" },
  });
  const svg = await attach(new File(["<svg/>"], "x.svg", { type: "image/svg+xml" }), never);
  expect(svg.mediaType).toBe("text/plain");
});

test.each([
  ["an empty file", new File([], "a")],
  ["bytes that are no text", new File([new Uint8Array([0xff, 0xfe, 0xfd])], "a")],
  ["a program", new File([new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0])], "a")],
  ["a long text", new File(["x".repeat(1_100_000)], "a")],
])("%s is refused with a reason", async (_what, file) => {
  await expect(attach(file, never)).rejects.toBeInstanceOf(AttachError);
});

test("a message has room for so many", async () => {
  const a = await attach(new File(["x"], "a"), never);
  expect(noRoom([], a)).toBeUndefined();
  expect(
    noRoom(
      Array.from({ length: mostAttachments }, () => a),
      a,
    ),
  ).toContain(String(mostAttachments));
  expect(noRoom([{ ...a, size: 33 * 1024 * 1024 }], a)).toBeDefined();
});

test("the text comes last, and not at all if there is none", () => {
  const block = { type: "image" };
  expect(contentOf("hi", [])).toBeUndefined();
  expect(contentOf("hi", [{ block }])).toEqual([block, { type: "text", text: "hi" }]);
  expect(contentOf(" \n", [{ block }])).toEqual([block]);
});

test("base64 of much is made in pieces", () => {
  expect(atob(base64(new Uint8Array(100_000).fill(65))).length).toBe(100_000);
  expect(sniff(new Uint8Array())).toBeUndefined();
});
