extension EventPage {
    static let template = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>{{{eventName}}}</title>
        <style>
        body { font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
        .muted { color: #555; }
        strong { unicode-bidi: isolate; }
        .text { overflow-wrap: anywhere; }
        .text pre { white-space: pre-wrap; }
        .text blockquote { margin: .5rem 0; padding-left: 1rem; border-left: 3px solid #ccc; }
        ol, ul { padding-left: 1.2rem; }
        td { vertical-align: top; padding: .3rem 1rem .3rem 0; }
        td:first-child { white-space: nowrap; }
        </style>
        </head>
        <body>
        <header>
        <h1>{{{eventName}}}</h1>
        <p>{{{eventDates}}}{{#eventPlace}} · {{{.}}}{{/eventPlace}}</p>
        {{#eventDetails}}
        <div class="text">{{{.}}}</div>
        {{/eventDetails}}
        {{#eventWebsite}}
        <p><a rel="noopener noreferrer" href="{{{.}}}">{{{.}}}</a></p>
        {{/eventWebsite}}
        </header>
        <main>
        {{#isCut}}
        <p class="muted">This event is too large for one page, which shows at most 5,000 tickets, sessions, rooms, tracks \
        and speakers each, and 5,000 names of speakers beside the sessions.</p>
        {{/isCut}}
        {{#hasTickets}}
        <section>
        <h2>Tickets</h2>
        <ol class="tickets">
        {{#tickets}}
        <li><strong>{{{ticketName}}}</strong> <span>{{{ticketPrice}}}</span>\
        {{#ticketDetails}}<div class="text muted">{{{.}}}</div>{{/ticketDetails}}</li>
        {{/tickets}}
        </ol>
        </section>
        {{/hasTickets}}
        {{#hasSchedule}}
        <section>
        <h2>Schedule</h2>
        <p class="muted">Times are in the time zone {{{zone}}}.</p>
        {{#days}}
        <h3>{{{dayName}}}</h3>
        <table>
        {{#sessions}}
        <tr><td>{{#sessionTime}}{{{.}}}{{/sessionTime}}</td>\
        <td><strong>{{{sessionTitle}}}</strong>{{#sessionSubtitle}} {{{.}}}{{/sessionSubtitle}}\
        {{#sessionSpeakers}}<br>{{{.}}}{{/sessionSpeakers}}\
        {{#sessionRoom}}<br><span class="muted">{{{.}}}</span>{{/sessionRoom}}\
        {{#sessionTrack}}<br><span class="muted">{{{.}}}</span>{{/sessionTrack}}</td></tr>
        {{/sessions}}
        </table>
        {{/days}}
        </section>
        {{/hasSchedule}}
        </main>
        </body>
        </html>

        """
}
