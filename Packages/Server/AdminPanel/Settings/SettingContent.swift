import AdminService
import TomboloAuthentication
import TomboloLocalization

/// What the template `setting` shows.
struct SettingContent: Sendable {
    struct Option: Sendable {
        let value: String
        let isChosen: Bool
    }

    let name: String
    let action: String
    let back = SettingsPages.path
    let summary: String
    let state: SettingState
    /// Whether it can't be changed here.
    let isFixed: Bool
    /// The newest change that the form knows; 0 for none.
    let number: Int64
    /// In the field.
    let text: String
    /// What counts, where the field doesn't have it: its whole value isn't shown.
    let hidden: String?
    /// What counts without a value.
    let fallback: String
    let options: [Option]
    /// Whether there is a value of the panel to take away.
    let isEntered: Bool
    let isMail: Bool
    let problem: String?

    /// - Parameters:
    ///   - entered: what somebody wanted, which the form shows again; nil for the value that counts.
    ///   - problem: why that wasn't done.
    init(
        _ setting: ChangeableSetting, _ settings: ServerSettings, _ change: SettingHistory.Change?, entered: String?,
        problem: String?, now: Int64
    ) {
        name = setting.name
        action = SettingPages.path(of: setting)
        let variable = AdminServer.variables.first { $0.name == setting.name }
        let summary = localizedText(variable?.summary ?? "")
        self.summary = summary.prefix(1).uppercased() + summary.dropFirst()
        fallback = localizedText(variable?.fallback ?? "")
        state = SettingState(setting, settings, change, now: now)
        isFixed = state.isFixed
        number = change?.number ?? 0
        let known = settings[setting.name] ?? state.value
        // What has a secret in it isn't shown whole, so that the field would lose it.
        let isWhole = isFixed || known == change?.value
        text = entered ?? (isWhole ? known ?? "" : "")
        hidden = isWhole ? nil : known
        let chosen = entered ?? known ?? variable?.fallback
        options = (setting.choices ?? []).map { Option(value: $0, isChosen: $0 == chosen) }
        isEntered = change?.value != nil
        isMail = setting == .mail
        self.problem = problem
    }
}
