import { Circle, CircleCheck, CircleDot, ListTodo } from "lucide-react";
import type { Json } from "../api/types";
import { arr, firstText, type JsonObject, obj, str } from "../talk/json";
import { toolTexts as t } from "../texts/tools";
import { classes } from "../ui/classes";
import { visible } from "../ui/visible";
import type { ToolKind } from "./kind";
import css from "./lists.module.css";
import { Remark } from "./Parts";
import { Result, ResultPeek } from "./Result";

interface Todo {
  readonly text: string;
  readonly status: string;
  readonly id: string;
}

const mostTodos = 500;

/** Reads a list of what is to do. */
export function todosOf(list: readonly Json[]): readonly Todo[] {
  return list.slice(0, mostTodos).map((entry) => {
    const status = str(entry, "status");
    const text = firstText(entry, "content", "subject", "description");
    return {
      text: status === "in_progress" ? firstText(entry, "activeForm") || text : text,
      status,
      id: firstText(entry, "id", "taskId"),
    };
  });
}

function Todos({ list }: { list: readonly Todo[] }) {
  return (
    <ul className={css.todos}>
      {list.map((todo, i) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: entries may have the same text and no id
          key={i}
          className={classes(css.todo, todo.status === "completed" && css.done, todo.status === "in_progress" && css.current)}
        >
          <Mark status={todo.status} />
          <span>
            {todo.id !== "" && <span className={css.id}>#{visible(todo.id)} </span>}
            {visible(todo.text)}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Mark({ status }: { status: string }) {
  if (status === "completed") return <CircleCheck className={css.doneMark} size={14} role="img" aria-label={t.todo.completed} />;
  if (status === "in_progress")
    return <CircleDot className={css.currentMark} size={14} role="img" aria-label={t.todo.inProgress} />;
  return (
    <Circle
      className={css.openMark}
      size={14}
      role="img"
      aria-label={status === "" || status === "pending" ? t.todo.pending : status}
    />
  );
}

/** Whether the entries of a list have nothing but what is drawn of them. */
function plain(list: readonly Json[]): boolean {
  const drawn = ["content", "status", "activeForm", "id", "priority"];
  return (
    list.length <= mostTodos &&
    list.every((entry) => Object.keys(entry ?? {}).every((name) => drawn.includes(name)) && str(entry, "content") !== "")
  );
}

function given(input: JsonObject) {
  const list = arr(input, "todos");
  if (list.length === 0) return { drawn: [] };
  return { view: <Todos list={todosOf(list)} />, drawn: plain(list) ? ["todos"] : [] };
}

export const todoWrite: ToolKind = {
  icon: ListTodo,
  known: true,
  given,
  whole: (item) => (item.state === "done" && arr(item.input, "todos").length > 0 ? given(item.input).view : undefined),
  peek: (item) => (item.state === "done" ? given(item.input).view : <ResultPeek item={item} />),
};

export const task: ToolKind = {
  icon: ListTodo,
  known: true,
  given(input) {
    const about = str(input, "description");
    return about === "" ? { drawn: [] } : { view: <Remark>{about}</Remark>, drawn: ["description"] };
  },
  brief(item) {
    const id = firstText(obj(item.result?.structured, "task"), "id");
    return id === "" ? undefined : `#${visible(id)}`;
  },
  peek: () => null,
};

export const taskList: ToolKind = {
  icon: ListTodo,
  known: true,
  given: () => ({ drawn: [] }),
  result(item) {
    const tasks = arr(item.result?.structured, "tasks");
    return tasks.length > 0 ? <Todos list={todosOf(tasks)} /> : <Result item={item} />;
  },
  peek(item) {
    const tasks = arr(item.result?.structured, "tasks");
    return tasks.length > 0 ? <Todos list={todosOf(tasks)} /> : <ResultPeek item={item} />;
  },
};
