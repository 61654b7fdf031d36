/// The values for the template `people`.
struct PeopleContent {
    struct Choice {
        let value: String
        let title: String
        let isChosen: Bool
    }

    struct Holder {
        let name: String
        /// The person's page; nil if the viewer may not see the person.
        let path: String?
        let role: String
        /// The page of the object that grants the role.
        let grant: String
        let removal: String?
    }

    struct Invitation {
        let email: String
        let role: String
        let expires: String
        let sent: String
        let resend: String
        let revoke: String
    }

    struct Transfer {
        let role: String
        let roleTitle: String
        /// The role that the former holder gets.
        let left: String
        let choices: [Choice]
    }

    struct Search {
        let plural: String
        let value: String
    }

    /// The class's name, for forms.
    let className: String
    let scope: String
    let isEverywhere: Bool
    let title: String
    let classes: [Choice]?
    let scopes: [Choice]?
    let scopeName: String
    let search: Search?
    let holders: [Holder]
    let more: String?
    /// The roles that somebody can be invited to; nil if the viewer may not invite anybody.
    let roles: [Choice]?
    let invitations: [Invitation]
    let transfers: [Transfer]
}
