/// The content of the template. Every text is a ``PageText`` or ``PageMarkdown``, so nothing unescaped can get in.
struct EventPageContent {
    let eventName: PageText
    let eventDates: PageText
    let eventPlace: PageText?
    let eventDetails: PageMarkdown?
    let eventWebsite: PageText?
    let isCut: Bool
    let zone: PageText
    let hasTickets: Bool
    let tickets: [Ticket]
    let hasSchedule: Bool
    let days: [Day]

    struct Ticket {
        let ticketName: PageText
        let ticketPrice: PageText
        let ticketDetails: PageMarkdown?
    }

    struct Day {
        let dayName: PageText
        let sessions: [Session]
    }

    struct Session {
        let sessionTime: PageText?
        let sessionTitle: PageText
        let sessionSubtitle: PageText?
        let sessionRoom: PageText?
        let sessionTrack: PageText?
        let sessionSpeakers: PageText?
    }
}
