import { readLines } from "./lines";

// Colours code beside the page: some texts take the highlighter minutes, and nobody but the page can end that.
self.addEventListener("message", ({ data }: MessageEvent<{ text: string; language: string }>) => {
  readLines(data.text, data.language).then(
    (lines) => self.postMessage(lines),
    () => self.postMessage(undefined), // a file of the console that cannot be loaded
  );
});
