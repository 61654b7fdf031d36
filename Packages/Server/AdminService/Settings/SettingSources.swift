import TomboloAuthentication
import TomboloHTTP

/// Where the values of settings come from. A server's environment variables take precedence over the panel's values,
/// and those over the defaults.
struct SettingSources: Sendable {
    /// The variables that were set when the server started.
    let start: [ChangeableSetting: String]
    private let mailSecret: String?
    private let defaults: SettingValues

    init(start: [ChangeableSetting: String] = [:], mailSecret: String? = nil, defaults: SettingValues) {
        self.start = start
        self.mailSecret = mailSecret
        self.defaults = defaults
    }

    /// - Parameters:
    ///   - environment: an empty variable counts as unset.
    ///   - options: values that override variables, by the variables' names.
    init(environment: [String: String], options: [String: String] = [:], defaults: SettingValues = SettingValues()) {
        func text(_ name: String) -> String? { (options[name] ?? environment[name]).flatMap { $0.isEmpty ? nil : $0 } }
        var start: [ChangeableSetting: String] = [:]
        for setting in ChangeableSetting.allCases { start[setting] = text(setting.name) }
        self.init(start: start, mailSecret: text(MailHook.secretVariable), defaults: defaults)
    }

    /// - Parameter entered: the panel's values. Values that the panel doesn't allow, such as a program for mails, are
    ///   ignored; another version may have written them, or somebody by hand. If the policy for second factors is
    ///   invalid, everybody needs a second factor.
    /// - Returns: the values, and the panel's invalid values with the reasons, except those that a variable
    ///   overrides.
    /// - Throws: `ConfigurationError` if a variable is invalid.
    func values(
        _ entered: [ChangeableSetting: String]
    ) throws(ConfigurationError) -> (values: SettingValues, refused: [ChangeableSetting: String]) {
        let refused = entered.reduce(into: [ChangeableSetting: String]()) { refused, item in
            refused[item.key] = item.key.problem(with: item.value)
        }
        var texts = entered.filter { refused[$0.key] == nil }
        // An invalid policy must not let in people whom it was meant to ask for a second factor.
        if refused[.secondFactor] != nil { texts[.secondFactor] = SecondFactorPolicy.everybody.rawValue }
        texts.merge(start) { _, start in start }
        return (try SettingValues(texts, mailSecret: mailSecret, defaults: defaults), refused)
    }
}
