internal import TomboloModel
public import TomboloRules

/// Why a box of a document's matrix can't be changed.
public enum MatrixEditError: Error, Hashable, Sendable, CustomStringConvertible {
    case noMatrix
    case unknownRole(String, known: [String])
    case unknownService(String, known: [String])
    case unknownOperation(String)
    case unknownPermission(String, known: [String])
    case unknownGroup(String, known: [String])
    /// Who may change objects may read them: the box of reading can't be empty below a ticked one, nor the other way.
    case needsRead(PermissionMatrix.Box)
    /// The rules ask nowhere for the box, of a service without classes: ticked it would permit nothing.
    case countsNowhere(PermissionMatrix.Box, isEverywhere: Bool)
    /// The text of the box stands for other boxes as well, or isn't written plainly.
    case notPlain(PermissionMatrix.Box, line: Int)
    /// The same for a box of users.
    case userBoxNotPlain(PermissionMatrix.UserBox, line: Int)
    /// A role can't have this name.
    case badName(String, reason: String)
    /// The rules name the role in other places, so that it's one of the app's own.
    case namedInRules(String, line: Int)
    /// Where the role would be written, or is, isn't plain to see.
    case rolesNotPlain(String, line: Int)
    /// The document can't be read.
    case mistakes(RuleError)

    public var description: String {
        switch self {
        case .noMatrix: return "The rules have no permission matrix."
        case .unknownRole(let name, let known): return Self.unknown("role", name, known)
        case .unknownService(let name, let known): return Self.unknown("service", name, known)
        case .unknownPermission(let name, let known): return Self.unknown("permission", name, known)
        case .unknownGroup(let name, let known): return Self.unknown("group", name, known)
        case .unknownOperation(let name):
            return Self.unknown("operation", name, PermissionMatrix.operations.map(\.name))
        case .needsRead(let box) where box.operation == .read:
            return "'\(box.role)' may change \(box.service), and who may change objects may read them. Take create, "
                + "update and delete away first."
        case .needsRead(let box):
            return "'\(box.role)' may not read \(box.service), and who may change objects may read them. Permit read "
                + "first."
        case .countsNowhere(let box, let isEverywhere):
            let reach = isEverywhere ? "everywhere" : "within an object"
            return
                "The box to \(box.operation) \(box.service) would permit nothing: no rule asks for it, of a role that "
                + "counts \(reach)."
        case .notPlain(let box, let line):
            return
                "The box of '\(box.role)' and '\(box.service)' (line \(line)) stands for others too, by an alias or a "
                + "merge key, or is written in another way than as plain letters. Write it out in the document, and "
                + "apply that."
        case .userBoxNotPlain(let box, let line):
            return
                "The box of '\(box.permission)' and '\(box.group)' (line \(line)) stands for others too, by an alias or a "
                + "merge key, or isn't written as true or false. Write it out in the document, and apply that."
        case .badName(let name, let reason):
            return "A role can't be called '\(name.shortened(toByteCount: String.nearestLengthLimit))': \(reason)"
        case .namedInRules(let name, let line):
            return
                "The rules name the role '\(name)' in line \(line), so that it belongs to the app. Change its boxes, or "
                + "change the document and apply it."
        case .rolesNotPlain(let name, let line):
            return "The rules list roles in a way that the role '\(name)' can't be changed in (line \(line)): write "
                + "'grants', its 'roles' and the matrix without aliases and merge keys, one role after the other."
        case .mistakes(let error): return error.description
        }
    }

    private static func unknown(_ kind: String, _ name: String, _ known: [String]) -> String {
        let hint = name.nearest(in: known).map { "; did you mean '\($0)'?" } ?? "."
        let shown = name.shortened(toByteCount: String.nearestLengthLimit)
        let plural = kind.prefix(1).uppercased() + kind.dropFirst() + "s"
        return "There is no \(kind) '\(shown)'\(hint) \(plural): \(known.joined(separator: ", "))."
    }
}
