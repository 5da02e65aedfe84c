"""Self-hosting economics of open-weight models: sizing, prices, money, risk. No Streamlit, no plotly."""
