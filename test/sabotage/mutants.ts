/** Finds what can be broken in a source file: in TypeScript by its syntax tree, in a template its escaped values. */
import { parseAst } from 'vitest/node'

/** A small change that breaks the program. */
export interface Mutant {
  /** The function or the constant at the top of the file in which it lies; empty outside of any. */
  readonly of: string
  /** The thing that is changed, such as `condition` or `< to <=`. */
  readonly kind: string
  readonly line: number
  /** The part of the text that `replacement` takes the place of. */
  readonly start: number
  readonly end: number
  readonly replacement: string
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

const OTHER: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
}
/** Calls without which a list or a text stays as it is. */
const LEFT_OUT_CALLS = /^(?:filter|sort|toSorted|reverse|trim)$/
/** Fields of a node that have no code that runs. */
const TYPES = /^(?:typeAnnotation|returnType|typeParameters|typeArguments)$/

/** Lists the mutants of a file, in the order of its text. */
export function listMutants(file: string, text: string): Mutant[] {
  if (!file.endsWith('.ts')) return listUnescaped(text)
  const found: Mutant[] = []
  const source = ({ start, end }: Node) => text.slice(start, end)
  const walk = (node: unknown, of: string): void => {
    if (Array.isArray(node)) for (const each of node) walk(each, of)
    if (!isNode(node) || isType(node)) return
    const own = of === '' ? nameOf(node) : of
    for (const [kind, { start, end }, replacement] of changesOf(node, source))
      found.push({ of: own, kind, line: text.slice(0, start).split('\n').length, start, end, replacement })
    for (const [field, child] of Object.entries(node)) if (!TYPES.test(field)) walk(child, own)
  }
  walk(parseAst(text, { lang: 'ts' }).body, '')
  return found
}

type Change = readonly [kind: string, of: Node, replacement: string]

function changesOf(node: Node, source: (node: Node) => string): Change[] {
  const { type, operator, left, right, test, value, callee, argument } = node
  const other = OTHER[String(operator)]
  if (isNode(test) && (type === 'IfStatement' || type === 'ConditionalExpression'))
    return [['condition', test, `!(${source(test)})`]]
  if (isNode(left) && isNode(right) && other !== undefined && /^(?:Binary|Logical)/.test(type))
    return isText(left) || isText(right)
      ? []
      : [[`${operator} to ${other}`, node, `((${source(left)}) ${other} (${source(right)}))`]]
  if (type === 'Literal' && typeof value === 'number') return [['number', node, String(value + 1)]]
  if (type === 'Literal' && typeof value === 'boolean') return [['boolean', node, String(!value)]]
  if (type === 'ExpressionStatement' && node['directive'] === undefined) return [['statement', node, ';']]
  if (type === 'ReturnStatement' && isNode(argument) && /^(?:Unary|Binary|Logical)/.test(argument.type))
    return [['result', argument, `!(${source(argument)})`]]
  if (type === 'CallExpression' && isNode(callee) && isNode(callee['object']) && isNode(callee['property']))
    return LEFT_OUT_CALLS.test(source(callee['property']))
      ? [[`.${source(callee['property'])}`, node, source(callee['object'])]]
      : []
  return []
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

function isType({ type }: Node): boolean {
  return /^(?:TS(?!As|Satisfies|NonNull)|Import|ExportAll)/.test(type)
}

/** A sum of texts is no sum of numbers. */
function isText(node: Node): boolean {
  const { type, value, left, right } = node
  return (
    type === 'TemplateLiteral' ||
    typeof value === 'string' ||
    (type === 'BinaryExpression' && [left, right].some((part) => isNode(part) && isText(part)))
  )
}

/** Returns the name of a function, a method or a constant; empty for other nodes. */
function nameOf({ type, id, key }: Node): string {
  const named =
    type === 'MethodDefinition' ? key : /^(?:FunctionDecl|VariableDeclarator)/.test(type) ? id : null
  return isNode(named) && typeof named['name'] === 'string' ? named['name'] : ''
}

function listUnescaped(text: string): Mutant[] {
  return [...text.matchAll(/(?<!\{)\{\{(\w+)\}\}(?!\})/g)].map(({ index, 0: value }) => ({
    of: '',
    kind: 'unescaped',
    line: text.slice(0, index).split('\n').length,
    start: index,
    end: index + value.length,
    replacement: `{${value}}`,
  }))
}
