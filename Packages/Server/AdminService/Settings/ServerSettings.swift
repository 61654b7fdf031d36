public import Foundation
import TomboloAuthentication

/// What a server was started with, as far as people may see it: it holds no password and no key.
public struct ServerSettings: Sendable {
    /// A variable, and what may be seen of its value; nil if it isn't set.
    package struct Setting: Sendable {
        package let variable: ServerVariable
        package let value: String?
    }

    package let settings: [Setting]

    /// - Parameter options: what counts instead of variables, by their names, such as options of the command line.
    public init(
        _ variables: [ServerVariable] = AdminServer.variables,
        environment: [String: String] = ProcessInfo.processInfo.environment, options: [String: String] = [:]
    ) {
        settings = variables.map { variable in
            let value = options[variable.name] ?? environment[variable.name] ?? ""
            return Setting(variable: variable, value: value.isEmpty ? nil : variable.shown(value))
        }
    }

    /// What may be seen of a variable's value.
    package subscript(name: String) -> String? { settings.first { $0.variable.name == name }?.value }

    /// Whether mails reach nobody, because a folder keeps them.
    package var keepsMails: Bool { self[MailHook.variable]?.hasPrefix("folder:") ?? false }
}
