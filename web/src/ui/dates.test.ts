import { expect, it } from "vitest";
import { formatDay, formatExactly, formatMoment, formatTime } from "./dates";

it("writes dates and times in one way, with no more than is needed", () => {
  const now = new Date(2026, 10, 17, 12).getTime();
  const evening = new Date(2026, 10, 17, 21, 3, 5);
  expect(formatTime(evening)).toBe("21:03");
  expect(formatDay(evening, now)).toBe("17 Nov");
  expect(formatDay(new Date(2025, 8, 1), now)).toBe("1 Sep 2025");
  expect(formatMoment(evening, now)).toBe("21:03");
  expect(formatMoment(new Date(2026, 10, 16, 9, 30), now)).toBe("16 Nov, 09:30");
  expect(formatMoment(new Date(2025, 11, 31, 0, 0).toISOString(), now)).toBe("31 Dec 2025, 00:00");
  expect(formatExactly(evening)).toBe("17 Nov 2026, 21:03:05");
  for (const format of [formatTime, formatDay, formatMoment, formatExactly]) expect(format("no time")).toBe("");
});
