/// What the template `people` shows.
struct PeopleContent {
    struct Choice {
        let value: String
        let title: String
        let isChosen: Bool
    }

    struct Holder {
        let name: String
        /// Of the person; nil for one whom the reader may not see.
        let path: String?
        let role: String
        /// Of what gives the role.
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
        /// What the former holder gets.
        let left: String
        let choices: [Choice]
    }

    struct Search {
        let plural: String
        let value: String
    }

    /// The name of the class, for forms.
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
    /// The roles that somebody can be invited to; nil for those who may invite nobody.
    let roles: [Choice]?
    let invitations: [Invitation]
    let transfers: [Transfer]
}
