import TomboloHTTP
import TomboloModel

/// What stands in the controls of a part of a form.
indirect enum FormEntry: Sendable {
    case text(String)
    case object(Object)
    case list([FormEntry])

    struct Object: Sendable {
        /// Whether the embedded object is there. An element of a list always is.
        var isThere = true
        /// Which element of its list it is; empty for a new one.
        var id = ""
        var members: [String: FormEntry] = [:]
    }

    /// Elements of a list that a form shows. A longer list isn't changed in a form.
    static let maximumElementCount = 200
    /// Controls of all lists and embedded objects of a form.
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
