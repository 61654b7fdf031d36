internal import TomboloModel

/// Why a rule document has no app, or why nothing can be explained.
public enum RuleDeploymentError: Error, Hashable, Sendable, CustomStringConvertible {
    case noModels
    case whichApp([String])
    case unknownApp(String, [String])
    case unknownClass(String, [String])
    /// The class is embedded in others, whose rules apply to it.
    case embeddedClass(String, owners: [String])
    /// The text isn't a key of the class, whose keys have this type.
    case notAKey(String, className: String, type: String)
    case noObject(String, className: String)

    public var description: String {
        switch self {
        case .noModels:
            return "No app has models in the database, and rules need models: run 'migration-tool apply --models FILE' "
                + "first."
        case .whichApp(let apps): return "The database has several apps: name one of \(Self.list(apps)) with --app."
        case .unknownApp(let app, let apps):
            return "There is no app '\(app)' in the database\(Self.hint(app, apps)) Apps: \(Self.list(apps))."
        case .unknownClass(let name, let names): return "There is no class '\(name)'\(Self.hint(name, names))"
        case .embeddedClass(let name, let owners):
            return
                "\(name) is an embedded class: what a user may do with its objects depends on the objects that contain "
                + "them. Ask about \(owners.isEmpty ? "a class that has it" : owners.joined(separator: " or "))."
        case .notAKey(let text, let className, let type):
            return "'\(text)' isn't a valid key of \(className), whose keys are of type \(type)."
        case .noObject(let key, let className): return "There is no \(className) with the key \(key)."
        }
    }

    private static func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }

    private static func hint(_ name: String, _ names: [String]) -> String {
        name.nearest(in: names).map { "; did you mean '\($0)'?" } ?? "."
    }
}
