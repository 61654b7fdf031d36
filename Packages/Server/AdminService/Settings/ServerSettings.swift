public import Foundation
import TomboloAuthentication
public import TomboloHTTP

/// The settings that a server was started with, as far as people may see them. Contains no passwords or keys.
public struct ServerSettings: Sendable {
    /// A variable and the visible part of its value, or nil if it isn't set.
    package struct Setting: Sendable {
        package let variable: ServerVariable
        package let value: String?
    }

    package let settings: [Setting]

    /// - Parameter options: values that override variables, by the variables' names, such as command-line options.
    public init(
        _ variables: [ServerVariable] = AdminServer.variables,
        environment: [String: String] = ProcessInfo.processInfo.environment, options: [String: String] = [:]
    ) {
        settings = variables.map { variable in
            let value = options[variable.name] ?? environment[variable.name] ?? ""
            return Setting(variable: variable, value: value.isEmpty ? nil : variable.shown(value))
        }
    }

    /// The visible part of a variable's value.
    package subscript(name: String) -> String? { settings.first { $0.variable.name == name }?.value }

    /// Whether mails go into a folder and reach nobody.
    package var keepsMails: Bool { self[MailHook.variable]?.hasPrefix("folder:") ?? false }
}
