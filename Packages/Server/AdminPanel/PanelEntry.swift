import TomboloRules

/// A page's place in the navigation.
struct PanelEntry: Sendable {
    /// The groups of the navigation, in their order. Classes come between them by themselves.
    enum Group: String, CaseIterable, Sendable {
        case start = "Start"
        /// What needs doing: trash, jobs, history.
        case work = "Work"
        /// Who may do what: users, permissions.
        case people = "People"
        /// How the system is set up, and how it does.
        case system = "System"
    }

    let title: String
    let group: Group

    init(_ title: String, in group: Group) {
        self.title = title
        self.group = group
    }

    /// An entry with the address of its page, and whom the page's access may let through.
    struct Registered: Sendable {
        let entry: PanelEntry
        let path: String
        let isShown: @Sendable (Subject) -> Bool
    }
}
