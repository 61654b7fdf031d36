import EventModels

/// An account of the sample data, with its well-known password. For trying things out on your own machine only.
public struct SampleUser: Hashable, Sendable {
    public let email: String
    public let password: String
    public let displayName: String
    /// What the account may do, in words.
    public let purpose: String
    /// Nil for an attendee: every user who is logged in is one.
    let role: RoleName?

    public static let all: [SampleUser] = [
        SampleUser(
            email: "owner@example.org", password: "event-owner-demo", displayName: "Otto Owner",
            purpose: "owns the event", role: .owner),
        SampleUser(
            email: "organizer@example.org", password: "organizer-demo", displayName: "Olga Organizer",
            purpose: "edits the event", role: .organizer),
        SampleUser(
            email: "attendee@example.org", password: "attendee-demo", displayName: "Ahmed Attendee",
            purpose: "reads what is published", role: nil),
        SampleUser(
            email: "admin@example.org", password: "administrator-demo", displayName: "Ada Administrator",
            purpose: "uses the trash", role: .admin),
    ]

    /// Accounts that the large sample adds to ``all``. The owner and the organizer in ``all`` have these roles in its
    /// event too.
    public static let large: [SampleUser] = [
        SampleUser(
            email: "super@example.org", password: "superadmin-demo", displayName: "Susan Super",
            purpose: "may do everything", role: .superAdmin)
    ]
}
