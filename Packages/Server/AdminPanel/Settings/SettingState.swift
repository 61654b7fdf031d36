import AdminService
import TomboloLocalization

/// What is shown of a setting that may be changed in the panel.
struct SettingState: Sendable {
    struct Change: Sendable {
        /// What was done, and who did it.
        let text: String
        let at: Moment
    }

    let path: String
    /// Whether an environment variable sets it, so that it can't be changed here.
    let isFixed: Bool
    /// The visible part of the value entered in the panel, if that value applies.
    let value: String?
    /// The last change in the panel.
    let change: Change?

    /// - Parameters:
    ///   - settings: the settings that the server was started with.
    ///   - change: the newest change; nil if there was none.
    ///   - now: in microseconds since 1970.
    init(_ setting: ChangeableSetting, _ settings: ServerSettings, _ change: SettingHistory.Change?, now: Int64) {
        path = SettingPages.path(of: setting)
        isFixed = settings[setting.name] != nil
        let entered = change?.value.flatMap { setting.problem(with: $0) == nil ? $0 : nil }
        value = isFixed ? nil : entered.map(setting.shown)
        self.change = change.map { change in
            let name = change.userName ?? localized("unknown")
            let text =
                change.value == nil
                ? localized("Set back to the default in the panel by \(name)")
                : localized("Changed in the panel by \(name)")
            return Change(text: text, at: Moment(change.time, now: now))
        }
    }

    /// The states of all settings that may be changed.
    static func all(_ request: PanelRequest) async throws -> [ChangeableSetting: SettingState] {
        let changes = try await SettingHistory(request.core.pool).newest()
        return Dictionary(
            uniqueKeysWithValues: ChangeableSetting.allCases.map { setting in
                (setting, SettingState(setting, request.core.settings, changes[setting], now: request.now))
            })
    }
}
