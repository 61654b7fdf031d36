import TomboloHTTP
import TomboloModel

/// The contents of the controls in one part of a form.
indirect enum FormEntry: Sendable {
    case text(String)
    case object(Object)
    case list([FormEntry])

    struct Object: Sendable {
        /// Whether the embedded object exists. An element of a list always does.
        var isThere = true
        /// The id of the element within its list; empty for a new one.
        var id = ""
        var members: [String: FormEntry] = [:]
    }

    /// The maximum number of list elements that a form shows. Longer lists can't be changed in a form.
    static let maximumElementCount = 200
    /// The maximum number of controls for all lists and embedded objects of a form.
    static let maximumControlCount = 800

    func isText(_ other: String) -> Bool {
        if case .text(let text) = self { text.hasBytes(of: other) } else { false }
    }

    var controlCount: Int {
        switch self {
        case .text: 1
        case .object(let object): object.members.values.reduce(1) { $0 + $1.controlCount }
        case .list(let elements): elements.reduce(1) { $0 + $1.controlCount }
        }
    }

    /// Whether a form can show it.
    var fits: Bool {
        switch self {
        case .text: true
        case .object(let object): object.members.values.allSatisfy(\.fits)
        case .list(let elements): elements.count <= Self.maximumElementCount && elements.allSatisfy(\.fits)
        }
    }
}
