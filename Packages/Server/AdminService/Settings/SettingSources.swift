import TomboloAuthentication
import TomboloHTTP

/// Where the values of settings come from: a variable where the server is started takes precedence over what was entered in the
/// panel, and that over the default.
struct SettingSources: Sendable {
    /// Variables that are set, as they were when the server was started.
    let start: [ChangeableSetting: String]
    private let mailSecret: String?
    private let defaults: SettingValues

    init(start: [ChangeableSetting: String] = [:], mailSecret: String? = nil, defaults: SettingValues) {
        self.start = start
        self.mailSecret = mailSecret
        self.defaults = defaults
    }

    /// - Parameters:
    ///   - environment: an empty variable counts as one that isn't set.
    ///   - options: count instead of variables, by their names.
    init(environment: [String: String], options: [String: String] = [:], defaults: SettingValues = SettingValues()) {
        func text(_ name: String) -> String? { (options[name] ?? environment[name]).flatMap { $0.isEmpty ? nil : $0 } }
        var start: [ChangeableSetting: String] = [:]
        for setting in ChangeableSetting.allCases { start[setting] = text(setting.name) }
        self.init(start: start, mailSecret: text(MailHook.secretVariable), defaults: defaults)
    }

    /// - Parameter entered: what was entered in the panel. What can't be, such as a program for mails, doesn't count; it may be
    ///   another version's, or written by hand. A policy of second factors that can't be understood asks everybody for one.
    /// - Returns: also what was entered and isn't valid, with the reason. What a variable overrides isn't among it.
    /// - Throws: `ConfigurationError` if a variable can't be understood.
    func values(
        _ entered: [ChangeableSetting: String]
    ) throws(ConfigurationError) -> (values: SettingValues, refused: [ChangeableSetting: String]) {
        let refused = entered.reduce(into: [ChangeableSetting: String]()) { refused, item in
            refused[item.key] = item.key.problem(with: item.value)
        }
        var texts = entered.filter { refused[$0.key] == nil }
        // What asked for one of somebody mustn't let everybody in without.
        if refused[.secondFactor] != nil { texts[.secondFactor] = SecondFactorPolicy.everybody.rawValue }
        texts.merge(start) { _, start in start }
        return (try SettingValues(texts, mailSecret: mailSecret, defaults: defaults), refused)
    }
}
