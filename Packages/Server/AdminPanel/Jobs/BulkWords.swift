import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules

/// The wording for an action on several objects.
struct BulkWords {
    let action: String
    let count: Int
    let type: ResourceType

    /// `48,213 listings`
    private var objects: String { Counted.objects(count, of: type.item.name) }

    /// The label of the button: `Move 3 sessions to the trash`.
    var button: String {
        switch action {
        case "update": localized("Change \(objects)")
        case "trash": localized("Move \(objects) to the trash")
        case "restore": localized("Restore \(objects)")
        default: localized("Delete \(objects) permanently")
        }
    }

    var question: String {
        switch action {
        case "update": localized("Change \(objects)?")
        case "trash": localized("Move \(objects) to the trash?")
        case "restore": localized("Restore \(objects)?")
        default: localized("Delete \(objects) permanently?")
        }
    }

    /// How many objects that belong to these are affected too.
    func along(_ count: Int) -> String? {
        guard count > 0 else { return nil }
        let number = PanelNumber.text(count)
        return action == "restore"
            ? localized(
                count, one: "\(number) other comes back with them.", other: "\(number) others come back with them.")
            : localized(
                count, one: "\(number) other goes into the trash with them.",
                other: "\(number) others go into the trash with them.")
    }

    /// The actions that the caller may choose for a class, as the list offers them.
    static func actions(of type: ResourceType, for view: CallerView) -> [[String: Any]] {
        var actions: [[String: Any]] = []
        if view.refusal(.update, type) == nil, view.fields(of: type).contains(where: { FormField($0) != nil }) {
            actions.append(["value": "update", "title": localized("Change fields…")])
        }
        if view.refusal(JSONAPIRoutes.removal(of: type.item), type) == nil {
            actions.append(
                type.item.isTrashable
                    ? ["value": "trash", "title": localized("Move to trash…")]
                    : ["value": "delete", "title": localized("Delete permanently…")])
        }
        return actions
    }
}
