import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel

/// Decides which objects a chooser offers. Suppose the form's object and the objects offered have a link of the same
/// name to the same class: a session and its room both have an event. The chooser then offers only rooms of the
/// session's event.
///
/// The offered objects must belong to another class than the shared link's target: somebody's spouse needn't have the
/// same mother.
struct ChoiceNarrowing {
    /// A link that the form's object shares with the offered objects.
    struct Link {
        /// The link in the form's class.
        let own: ResourceField
        /// The link in the offered class, with its column.
        let theirs: ResourceField
        let column: Column
        /// The class that both lead to.
        let target: ResourceType
        /// The object that the form's link leads to; nil until one is entered.
        var key: Value?

        /// The title within a sentence.
        var title: String { ClassTitle.inSentence(ClassTitle.words(own.name)) }
    }

    /// No narrowing.
    static let none = ChoiceNarrowing(links: [])

    let links: [Link]

    private init(links: [Link]) { self.links = links }

    /// The narrowing for the chooser at one place of a form.
    /// - Parameters:
    ///   - path: a field's name; links inside embedded objects aren't narrowed.
    ///   - entered: the contents of the controls, by field.
    init(at path: String, of type: ResourceType, _ view: CallerView, _ entered: [String: String]) {
        guard let field = view.fields(of: type).first(where: { $0.name == path }) else {
            self = .none
            return
        }
        links = Self.shared(by: field, of: type, view).map { link in
            var link = link
            link.key = entered[link.own.name].flatMap { $0.isEmpty ? nil : link.target.keyValue($0) }
            return link
        }
    }

    /// The links that a class shares with the target class of one of its links or lists of links, as far as the caller
    /// can see them.
    static func shared(by field: ResourceField, of type: ResourceType, _ view: CallerView) -> [Link] {
        guard let offered = field.target, let target = view.types[offered] else { return [] }
        let others = view.fields(of: target)
        return view.fields(of: type).compactMap { own in
            guard case .toOne(_, let index) = own.content, own.name != field.name, index != offered,
                let both = view.types[index], let theirs = others.first(where: { $0.property == own.property }),
                case .toOne(let column, index) = theirs.content
            else { return nil }
            return Link(own: own, theirs: theirs, column: target.item.columns[column], target: both)
        }
    }

    /// The fields whose choosers depend on the value of a link.
    static func dependents(on link: ResourceField, of type: ResourceType, _ view: CallerView) -> [ResourceField] {
        view.fields(of: type).filter { field in
            shared(by: field, of: type, view).contains { $0.own.name == link.name }
        }
    }

    /// The links that have a value already.
    private var entered: [Link] { links.filter { $0.key != nil } }

    /// The values that an offered object's links must have, by name.
    var keys: [String: Value] { links.reduce(into: [:]) { $0[$1.theirs.name] = $1.key } }

    var predicate: Predicate {
        .all(entered.compactMap { link in link.key.map { .compare(PropertyPath(link.column.name), .equal, $0) } })
    }

    /// The links that narrow the choice, as part of a sentence: `event and venue`; nil if none of them has a value.
    var chosen: String? {
        guard let first = entered.first else { return nil }
        return entered.dropFirst().reduce(first.title) { list, link in localized("\(list) and \(link.title)") }
    }
}
