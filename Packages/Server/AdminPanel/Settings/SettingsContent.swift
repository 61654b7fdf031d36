import AdminService
import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization

/// The values for the template `settings`.
struct SettingsContent: Sendable {
    struct Topic: Sendable {
        let id: String
        let title: String
        let settings: [Line]
    }

    struct Line: Sendable {
        let name: String
        let value: String?
        let isSecret: Bool
        /// The default that applies if it isn't set.
        let fallback: String
        let summary: String
        /// The state of a setting that may be changed in the panel.
        let state: SettingState?
    }

    struct Problem: Sendable {
        let message: String
        let hint: String
    }

    let warnings: [String]
    let listening: String
    let database: String
    let modelVersion: Int64
    let topics: [Topic]
    let hasMail: Bool
    let email: String
    let mailPath: String
    let mailVariable = MailHook.variable
    let problem: Problem?

    /// - Parameters:
    ///   - states: the states of the settings that may be changed in the panel.
    ///   - usual: the address in use.
    init(
        _ settings: ServerSettings, states: [ChangeableSetting: SettingState], address usual: AdminAddress?,
        modelVersion: Int64, database: String, warnings: [String], hasMail: Bool, email: String,
        mailPath: String, problem: MailDeliveryError?
    ) {
        self.warnings = warnings
        self.database = database
        self.modelVersion = modelVersion
        self.hasMail = hasMail
        self.email = email
        self.mailPath = mailPath
        self.problem = problem.map { Problem(message: $0.description, hint: $0.hint) }
        let usualAddress = usual?.text
        let scheme = settings[CertificateFiles.certificateVariable] == nil ? "http" : "https"
        let host = settings[ServerConfiguration.hostVariable] ?? ServerConfiguration.defaultHost
        let port = settings[AdminServer.portVariable] ?? String(AdminServer.defaultPort)
        let address = "\(scheme)://\(ListeningAddress.host(host))"
        listening = port == "0" ? localized("\(address), on a free port") : "\(address):\(port)"
        topics = ServerVariable.Topic.allCases.enumerated().map { index, topic in
            Topic(
                id: "topic-\(index)", title: localizedText(topic.rawValue),
                settings: settings.settings.filter { $0.variable.topic == topic }.map { setting in
                    let state = ChangeableSetting(name: setting.variable.name).flatMap { states[$0] }
                    // A development server has a default address.
                    let isAddress = setting.variable.name == AdminAddress.variable
                    return Line(
                        name: setting.variable.name, value: setting.value ?? state?.value,
                        isSecret: setting.variable.kind == .secret,
                        fallback: (isAddress ? usualAddress : nil) ?? localizedText(setting.variable.fallback),
                        summary: localizedText(setting.variable.summary), state: state)
                })
        }
    }
}
