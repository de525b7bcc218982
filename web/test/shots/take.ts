import type { Page } from "playwright-core";

/** Takes a picture once the page rests: fonts are there, nothing is on its way, two frames were drawn. */
export async function take(page: Page, path: string): Promise<void> {
  await page.evaluate(async () => {
    await document.fonts.ready;
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  });
  await page.getByText("Loading…").first().waitFor({ state: "detached" });
  await page.screenshot({ path, animations: "disabled" });
}
