/** Whether a single value would do as a setting, told as a settings file would be told. */
import { pathText, type SettingPath, type SettingTree, setValueAt } from './setting-path.ts'
import { settingsSchema } from './settings.ts'

/** What was expected of it; null where the value will do. */
export function settingFault(path: SettingPath, value: unknown): string | null {
  const tree: SettingTree = {}
  setValueAt(tree, path, value)
  const issues = settingsSchema.safeParse(tree).error?.issues ?? []
  const issue = issues.find((each) =>
    pathText(each.path.filter((key) => typeof key !== 'symbol')).startsWith(pathText(path)),
  )
  return issue === undefined ? null : `expected ${issue.message}`
}
