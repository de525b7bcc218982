import type { Json } from "../api/types";
import { isObject } from "../talk/json";
import { steerTexts as t } from "../texts/steer";

/** Reads an object that a person has written as JSON: it, or what is wrong with it. */
export function readJson(text: string): { value?: { [name: string]: Json }; problem?: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (e) {
    return { problem: t.notJson(e instanceof Error ? e.message : "") };
  }
  return isObject(value) ? { value: { ...value } } : { problem: t.notObject };
}
