import AdminService
import TomboloHTTP
import TomboloLocalization

/// What the template `trash_emptying` shows: how far it is, and where it goes on.
struct EmptyingContent: Sendable {
    struct Next: Sendable {
        let after: String
        let chosenClass: String?
        let objects: Int
        let groups: Int
        let total: Int
    }

    struct Progress: Sendable {
        let done: Int
        let total: Int
    }

    struct Kept: Sendable {
        let group: String
        let reason: String
    }

    private(set) var status = ""
    private(set) var objects: Int
    private(set) var groups: Int
    /// Groups that there were when it began; 0 before it did.
    var total: Int
    private(set) var progress: Progress?
    private(set) var next: Next?
    private(set) var kept: [Kept] = []

    /// - Parameter form: of the request before, which says what was done so far: for the reader only.
    init(_ form: [String: String]) {
        func number(_ name: String) -> Int {
            form[name].flatMap { Int($0) }.map { max(0, min($0, 1_000_000_000)) } ?? 0
        }
        objects = number("objects")
        groups = number("groups")
        total = number("total")
    }

    mutating func add(_ answer: JSON, _ chosenClass: String?) {
        objects += answer["count"]?.number ?? 0
        groups += answer["groups"]?.number ?? 0
        if case .array(let items)? = answer["kept"] {
            kept = items.compactMap { item in
                guard let group = item["group"]?.text, let reason = item["reason"]?.text else { return nil }
                return Kept(group: group, reason: reason)
            }
        }
        next = answer["next"]?.text.map {
            Next(after: $0, chosenClass: chosenClass, objects: objects, groups: groups, total: total)
        }
        progress = next == nil ? nil : Progress(done: min(groups, total), total: max(total, 1))
        let what = Self.deleted(objects, inGroups: groups)
        status = next == nil ? what : localized("\(what) There is more.")
    }

    /// `3 objects in 2 groups were deleted permanently.`
    static func deleted(_ objects: Int, inGroups groups: Int) -> String {
        let (things, number) = (Counted.objects(objects), PanelNumber.text(groups))
        let places = localized(groups, one: "\(number) group", other: "\(number) groups")
        return localized(
            objects, one: "\(things) in \(places) was deleted permanently.",
            other: "\(things) in \(places) were deleted permanently.")
    }
}

extension JSON {
    /// A whole number; nil for everything else.
    var number: Int? { if case .int(let number) = self { Int(number) } else { nil } }
}
