import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel

/// Which objects a chooser offers. Where the form's object and what a link leads to both have a link of the same name to the
/// same class, as a session and its room both have their event, only those whose link leads where the form's does.
///
/// What a link leads to has to be of another class than the shared one: somebody's spouse needn't have the same mother.
struct ChoiceNarrowing {
    /// A link that the form's object shares with what is offered.
    struct Link {
        /// Of the class of the form.
        let own: ResourceField
        /// Of the class that is offered, with its column.
        let theirs: ResourceField
        let column: Column
        /// What both lead to.
        let target: ResourceType
        /// Where the form's leads; nil as long as nothing is entered.
        var key: Value?

        /// As in a sentence.
        var title: String { ClassTitle.inSentence(ClassTitle.words(own.name)) }
    }

    /// Nothing is narrowed.
    static let none = ChoiceNarrowing(links: [])

    let links: [Link]

    private init(links: [Link]) { self.links = links }

    /// Of the chooser at a place of a form.
    /// - Parameters:
    ///   - path: a name of a field; links inside embedded objects are narrowed by nothing.
    ///   - entered: what stands in the controls, by field.
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

    /// The links that a class shares with what one of its links, or a list of them, leads to: of those that the caller sees.
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

    /// The fields whose choosers depend on what is entered for a link.
    static func dependents(on link: ResourceField, of type: ResourceType, _ view: CallerView) -> [ResourceField] {
        view.fields(of: type).filter { field in
            shared(by: field, of: type, view).contains { $0.own.name == link.name }
        }
    }

    /// What is entered already.
    private var entered: [Link] { links.filter { $0.key != nil } }

    /// The links with which an offered object has to lead to the same, by name.
    var keys: [String: Value] { links.reduce(into: [:]) { $0[$1.theirs.name] = $1.key } }

    var predicate: Predicate {
        .all(entered.compactMap { link in link.key.map { .compare(PropertyPath(link.column.name), .equal, $0) } })
    }

    /// The links that narrow, within a sentence: `event and venue`; nil if nothing is entered in one.
    var chosen: String? {
        guard let first = entered.first else { return nil }
        return entered.dropFirst().reduce(first.title) { list, link in localized("\(list) and \(link.title)") }
    }
}
