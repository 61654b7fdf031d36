import TomboloLocalization
import TomboloRules

/// A page's place in the navigation.
public struct PanelEntry: Sendable {
    /// The groups of the navigation, in order. The classes are inserted automatically.
    public enum Group: CaseIterable, Sendable {
        case start
        /// Pages added by an app. They follow the classes.
        case app
        /// What needs doing: trash, jobs, history.
        case work
        /// Who may do what: users, permissions.
        case people
        /// How the system is configured, and how it's running.
        case system

        var title: String {
            switch self {
            case .start: localized("Start")
            case .app: localized("App")
            case .work: localized("Work")
            case .people: localized("People")
            case .system: localized("System")
            }
        }
    }

    /// In English.
    let title: String
    let group: Group

    public init(_ title: String, in group: Group = .app) {
        self.title = title
        self.group = group
    }

    /// The title in the language of the current request.
    var localizedTitle: String { localizedText(title) }

    /// An entry with the address of its page, and the access that decides who may see it.
    struct Registered: Sendable {
        let entry: PanelEntry
        let path: String
        /// The purposes of the page's access.
        let purposes: Set<BoxPurpose>
        let isShown: @Sendable (Subject) -> Bool
    }
}
