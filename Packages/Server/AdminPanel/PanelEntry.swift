import TomboloLocalization
import TomboloRules

/// A page's place in the navigation.
public struct PanelEntry: Sendable {
    /// The groups of the navigation, in their order. Classes come between them by themselves.
    public enum Group: CaseIterable, Sendable {
        case start
        /// What an app has added. It comes after the classes.
        case app
        /// What needs doing: trash, jobs, history.
        case work
        /// Who may do what: users, permissions.
        case people
        /// How the system is set up, and how it does.
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

    /// Navigations are made for each request, in its language.
    var localizedTitle: String { localizedText(title) }

    /// An entry with the address of its page, and whom the page's access may let through.
    struct Registered: Sendable {
        let entry: PanelEntry
        let path: String
        /// Of the page's access.
        let purposes: Set<BoxPurpose>
        let isShown: @Sendable (Subject) -> Bool
    }
}
