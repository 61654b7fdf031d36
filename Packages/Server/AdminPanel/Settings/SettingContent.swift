import AdminService
import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization

/// The values for the template `setting`.
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
    /// Whether it can't be changed in the panel.
    let isFixed: Bool
    /// The number of the newest change that the form is based on; 0 if there is none.
    let number: Int64
    /// The contents of the field.
    let text: String
    /// The current value in a redacted form, if it can't be shown in the field.
    let hidden: String?
    /// The default that applies without a value.
    let fallback: String
    let options: [Option]
    /// Whether the panel has a value that can be removed.
    let isEntered: Bool
    let isMail: Bool
    let problem: String?

    /// - Parameters:
    ///   - entered: a submitted value that the form shows again; nil for the current value.
    ///   - problem: why the submitted value wasn't stored.
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
        // A value that contains a secret is shown redacted, and not in the field: saving that would overwrite the
        // secret.
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
